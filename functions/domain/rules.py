"""What a deployment may decide."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from functions.domain.kinds import Review
from functions.domain.tasks import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the deployment may decide."""

    open_max: int = 50  # unfinished tasks per account
    key_days: int = 7
    link_seconds: int = 900
    shards: int = 4
    hook_base: str | None = None  # the API's public address, for providers to call
    routes: Mapping[str, tuple[Route, ...]] = field(default_factory=dict)  # by kind, in order
    unit_prices: Mapping[str, int] = field(default_factory=dict)  # by "kind/provider"
    reviews: Mapping[str, Review] = field(default_factory=dict)  # by kind, where not its own

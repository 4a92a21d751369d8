"""What one deployment may choose, read once from the CDK context."""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

LOG_RETENTION_DAYS = (1, 7, 14, 30, 90, 365)  # some of what CloudWatch Logs knows
CONCURRENCY = (2, 1000)  # what SQS lets a reader be bounded to
BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every setting has a default that is right for a first deployment.

    `cdk deploy -c name=value` sets one; lists are comma separated.
    """

    name: str = "Tallyreel"
    local: bool = False  # for the emulator on this machine; see `app.py` for what differs
    log_level: str = "INFO"
    log_retention_days: int = 14
    render_concurrency_max: int = 10  # bounds the render bill: so many clips at once, no more
    worker_max: int = 4  # bounds the bill of long films: so many workers at once, no more
    worker_spot: bool = True  # spare capacity at a third of the price; what is cut off is repeated
    worker_on_demand_base: int = (
        0  # so many of the workers, the first ones, never on spare capacity
    )
    api_requests_per_second: int = 50
    api_burst: int = 100
    cors_origins: tuple[str, ...] = ()  # exact origins of pages that call the API and upload
    self_sign_up: bool = False  # off: whoever signs up can spend what an operator grants
    operator_group: str = "operators"
    jwt_issuer: str = ""  # another OIDC issuer; with it no user pool is made
    jwt_audience: tuple[str, ...] = ()  # client ids that the issuer's tokens may name
    sign_in_origins: tuple[str, ...] = ()  # where that issuer gives tokens out, if elsewhere
    table_stream_arn: str = ""  # of a restored table, to use it in place of the stack's own
    alarm_topic_arn: str = ""  # an SNS topic of yours that hears the alarms
    # Who renders a kind, tried in this order: `-c 'providers={"image_to_video": ["fal"]}'`.
    providers: Mapping[str, list[str]] = field(default_factory=dict)
    provider_options: Mapping[str, Any] = field(default_factory=dict)  # fields of its file
    provider_concurrency_max: int = 10
    secrets_below: str = "tallyreel"  # of the providers' secrets: `tallyreel/fal`
    unit_prices: Mapping[str, int] = field(default_factory=dict)  # credits by "kind/provider"
    # What is done with a doubted result: `-c 'reviews={"image_to_video": "hold"}'`.
    reviews: Mapping[str, str] = field(default_factory=dict)
    test_origins: tuple[str, ...] = ()  # stand-ins for providers on this machine; never on AWS

    def __post_init__(self) -> None:
        if bool(self.jwt_issuer) != bool(self.jwt_audience):
            raise ValueError("set jwt_issuer and jwt_audience together, or neither")
        if not CONCURRENCY[0] <= self.render_concurrency_max <= CONCURRENCY[1]:
            raise ValueError(f"render_concurrency_max: from {CONCURRENCY[0]} to {CONCURRENCY[1]}")
        if self.test_origins and not self.local:
            raise ValueError("test_origins: only for the emulator on this machine")
        if self.log_retention_days not in LOG_RETENTION_DAYS:
            raise ValueError(f"log_retention_days: one of {LOG_RETENTION_DAYS}")

    @classmethod
    def from_context(cls, get: Callable[[str], Any]) -> "Config":
        """Take what the context names; values given with `-c` arrive as text."""
        given = {
            each.name: _as_type_of(each.name, _default(each), get(each.name))
            for each in fields(cls)
            if get(each.name) is not None
        }
        return cls(**given)


def _default(of: "Field[Any]") -> Any:
    return of.default if of.default is not MISSING else {}


def _as_type_of(name: str, default: Any, value: Any) -> Any:
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        if str(value).lower() not in BOOLEANS:
            raise ValueError(f"context {name}: say true or false, not {value!r}")
        return BOOLEANS[str(value).lower()]
    if isinstance(default, dict):
        return json.loads(value) if isinstance(value, str) else value
    if isinstance(default, tuple):
        items = value.split(",") if isinstance(value, str) else value
        return tuple(item.strip() for item in items if item.strip())
    return type(default)(value)

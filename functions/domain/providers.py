"""What a provider of renders is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from functions.domain.outcomes import Failed, Refused, Rendered

Work = Callable[
    [Path, Path, Mapping[str, Any], Callable[[int, int], None]], Rendered | Refused | Failed
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltIn:
    """A renderer of our own: it runs where the task was claimed, and costs no fee.

    `render(source, out, order, on_progress)` turns the source into a file at `out`.
    """

    name: str
    render: Work

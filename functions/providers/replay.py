"""The built-in provider of session_to_video: a replay of the recording in a browser of our own."""

from collections.abc import Callable, Mapping
from math import ceil
from pathlib import Path
from typing import Any

from functions.domain.outcomes import Failed, Refused, Rendered
from functions.domain.providers import BuiltIn

OVER_SECONDS = 1  # not worth another minute


class _LongerThanOrdered(Exception):
    """Ends the work before anything is filmed."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


def render(
    source: Path,
    out: Path,
    order: Mapping[str, Any],
    on_progress: Callable[[int, int], None],
) -> Rendered | Refused | Failed:
    """Film the recording as it was ordered, unless it gives more minutes than were bought."""
    # PyAV is there only where rendering is done, and this declaration is read everywhere.
    from functions.media.replay import render_session  # noqa: PLC0415

    bought = 60 * order["minutes"] + OVER_SECONDS

    def counted(done: int, total: int) -> None:
        seconds = total / order["fps"]
        if seconds > bought:
            raise _LongerThanOrdered(seconds)
        on_progress(done, total)

    try:
        return render_session(
            source,
            out,
            fps=order["fps"],
            size=_size(order["size"]),
            skip_inactivity=order["skip_inactivity"],
            speed=order["speed"],
            mouse_trail=order["mouse_trail"],
            on_progress=counted,
        )
    except _LongerThanOrdered as longer:
        needed = ceil((longer.seconds - OVER_SECONDS) / 60)
        return Refused(
            code="longer-than-ordered",
            reason=f"The video would last {needed} minutes and {order['minutes']} were ordered. "
            f"Order {needed}, or have pauses cut or the speed raised.",
        )


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    width, _, height = text.partition("x")
    return int(width), int(height)


PROVIDER = BuiltIn(name="replay", render=render)

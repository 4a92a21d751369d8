"""The built-in provider of video_analysis: shots, key frames and sound from the file itself."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from functions.domain.outcomes import Failed, Refused, Rendered
from functions.domain.providers import BuiltIn


def render(
    source: Path,
    out: Path,
    order: Mapping[str, Any],
    on_progress: Callable[[int, int], None],
) -> Rendered | Refused | Failed:
    """View the video as it was ordered."""
    # The sandbox is needed only where videos are viewed; this declaration is read everywhere.
    from functions.media.viewing import view_video  # noqa: PLC0415

    return view_video(source, out, order, on_progress)


PROVIDER = BuiltIn(name="local", render=render)

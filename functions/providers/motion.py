"""The built-in provider of image_to_video: a camera move over the photo."""

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
    """Read the photo and render the ordered move."""
    # PyAV is there only where rendering is done, and this declaration is read everywhere.
    from functions.media.motion import render_motion  # noqa: PLC0415
    from functions.media.photo import read_photo  # noqa: PLC0415

    photo = read_photo(source)
    if isinstance(photo, Refused):
        return photo
    return render_motion(
        photo,
        out,
        motion=order["motion"],
        seconds=order["seconds"],
        aspect=order["aspect"],
        on_progress=on_progress,
    )


PROVIDER = BuiltIn(name="motion", render=render)

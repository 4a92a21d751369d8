"""A recorded web session becomes a video, every frame exact.

How long the video will be is known only once the whole recording was read: it may be compressed,
out of order, or have its pauses cut. So an order says how many minutes are bought, and that is
its price. The worker refuses a recording that gives more before it films, and says how many it
takes; a recording that gives less is filmed for the price that was agreed to.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from functions.domain.deadlines import Limits
from functions.domain.kinds import InvalidInput, Kind, Order, Promise, Runs, Upload, invalid
from functions.domain.media import MediaHead
from functions.domain.outcomes import Refused
from functions.media.recording import BOUNDS, examine_head
from functions.media.replay_plan import (
    CREDITS_PER_MINUTE,
    FPS,
    FPS_MAX,
    SIDE_MAX,
    SIDE_MIN,
    SPEED_MAX,
    SPEED_MIN,
)

MINUTES_MAX = round(BOUNDS.seconds_max / 60)
PAUSE_MIN, PAUSE_MAX = 0.5, 3600.0  # seconds
SIZE = re.compile(r"([0-9]{2,4})x([0-9]{2,4})")


def size_of(text: str) -> tuple[int, int]:
    """Read `1280x720`."""
    found = SIZE.fullmatch(text)
    if found is None:
        raise ValueError("say it as in 1280x720")
    width, height = int(found[1]), int(found[2])
    if not all(SIDE_MIN <= side <= SIDE_MAX and side % 2 == 0 for side in (width, height)):
        raise ValueError(f"even sides from {SIDE_MIN} to {SIDE_MAX}")
    return width, height


def _checked(text: str) -> str:
    size_of(text)
    return text


class Input(BaseModel):
    """What can be ordered."""

    model_config = ConfigDict(extra="forbid", strict=True)

    source: Annotated[
        str, Field(pattern=r"^[0-9A-HJKMNP-TV-Z]{26}$", description="id of the uploaded recording")
    ]
    minutes: int = Field(
        1, ge=1, le=MINUTES_MAX, description="how many minutes of video are bought, at most"
    )
    fps: int = Field(FPS, ge=1, le=FPS_MAX, description="frames per second")
    size: Annotated[str, AfterValidator(_checked)] | None = Field(
        None,
        description="as in 1280x720; without, the recorded window's, at most 1920x1080",
        json_schema_extra={"pattern": f"^{SIZE.pattern}$"},
    )
    skip_inactivity: float | None = Field(
        None,
        ge=PAUSE_MIN,
        le=PAUSE_MAX,
        description="leave so many seconds of each pause; without, all of it",
    )
    speed: float = Field(1.0, ge=SPEED_MIN, le=SPEED_MAX, description="2 is twice as fast")
    mouse_trail: bool = Field(default=False, description="draw where the mouse came from")


def order(given: Mapping[str, Any]) -> Order | InvalidInput:
    """Validate an input and price it."""
    try:
        wanted = Input.model_validate(given)
    except ValidationError as error:
        return invalid(error.errors(), under="/input")
    width, height = size_of(wanted.size) if wanted.size else (None, None)
    return Order(
        input=wanted.model_dump(),
        source=wanted.source,
        units=wanted.minutes,
        unit_price=CREDITS_PER_MINUTE,
        promise=Promise(
            seconds=60 * wanted.minutes,
            width=width,
            height=height,
            still_allowed=True,  # a session in which nobody did anything
            held_allowed=True,
        ),
    )


def examine(seen: MediaHead) -> Refused | None:
    """Look at how the recording begins, or at all of a small one, before any credits are held."""
    return examine_head(seen.head, seen.size_bytes)


KIND = Kind(
    name="session_to_video",
    title="Web session to video",
    runs=Runs.WORKER,
    timeout_seconds=4 * 3600,
    providers=("replay",),
    upload=Upload(
        content_types=("application/json", "application/gzip"), bytes_max=BOUNDS.file_bytes_max
    ),
    order=order,
    schema=Input.model_json_schema,
    price=f"{CREDITS_PER_MINUTE} credits per minute of video",
    examine=examine,
    limits=Limits(
        attempts_max=3,  # each may take long, and a browser that gets stuck was tried thrice in it
        queue_wait_seconds=12 * 3600,  # workers start from none, and there are only so many
    ),
)

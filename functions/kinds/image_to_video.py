"""A photo becomes a short clip with a camera move."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from functions.domain.kinds import InvalidInput, Kind, Order, Promise, Runs, Upload, invalid
from functions.domain.media import MediaHead
from functions.domain.outcomes import Refused
from functions.media.motion_plan import ASPECTS, MOTIONS, SECONDS_MAX, SECONDS_MIN
from functions.media.photo_header import PHOTO_BYTES_MAX, sniff_photo

CREDITS_PER_SECOND = 2

Source = Annotated[
    str, Field(pattern=r"^[0-9A-HJKMNP-TV-Z]{26}$", description="id of the uploaded photo")
]


class Input(BaseModel):
    """What can be ordered."""

    model_config = ConfigDict(extra="forbid", strict=True)

    source: Source
    motion: Literal[*MOTIONS] = Field("zoom-in", description="the camera's move")  # type: ignore[valid-type]
    prompt: str = Field(
        "", max_length=500, description="what shall happen, for providers that are told in words"
    )
    seconds: int = Field(5, ge=SECONDS_MIN, le=SECONDS_MAX, description="length of the clip")
    aspect: Literal[*ASPECTS] = Field("16:9", description="shape of the picture")  # type: ignore[valid-type]


def order(given: Mapping[str, Any]) -> Order | InvalidInput:
    """Validate an input and price it."""
    try:
        wanted = Input.model_validate(given)
    except ValidationError as error:
        return invalid(error.errors(), under="/input")
    width, height = ASPECTS[wanted.aspect]
    return Order(
        input=wanted.model_dump(),
        source=wanted.source,
        units=wanted.seconds,
        unit_price=CREDITS_PER_SECOND,
        promise=Promise(seconds=wanted.seconds, width=width, height=height, still_allowed=True),
    )


def examine(seen: MediaHead) -> Refused | None:
    """Look at the photo's header before any credits are held."""
    header = sniff_photo(seen.head)
    return header if isinstance(header, Refused) else None


KIND = Kind(
    name="image_to_video",
    title="Photo to video",
    runs=Runs.FUNCTION,
    timeout_seconds=300,
    providers=("motion",),
    upload=Upload(
        content_types=("image/jpeg", "image/png", "image/webp"), bytes_max=PHOTO_BYTES_MAX
    ),
    order=order,
    schema=Input.model_json_schema,
    price=f"{CREDITS_PER_SECOND} credits per second",
    examine=examine,
)

"""A video becomes transcript, storyboard and selling points.

Its length is read from its header before any credits are held: the price goes by it. Shots, key
frames and sound are measured here, whoever is asked; a model adds the words.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from functions.analysis.asking import doubt, heard, question
from functions.analysis.judging import judge
from functions.analysis.result import result
from functions.analysis.schema import answer_schema
from functions.domain.deadlines import Limits
from functions.domain.kinds import (
    Asking,
    Format,
    InvalidInput,
    Kind,
    Order,
    Promise,
    ReadAt,
    Runs,
    Upload,
    invalid,
)
from functions.domain.media import MediaHead
from functions.domain.outcomes import Refused
from functions.media.lengths import length_of
from functions.media.sniff import sniff

CREDITS_PER_MINUTE: Final = 5
MINUTES_MAX: Final = 120
VIDEO_BYTES_MAX: Final = 2 << 30
KEY_FRAMES_MAX: Final = 40
LANGUAGE: Final = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$"


class Input(BaseModel):
    """What can be ordered."""

    model_config = ConfigDict(extra="forbid", strict=True)

    source: Annotated[
        str | None,
        Field(pattern=r"^[0-9A-HJKMNP-TV-Z]{26}$", description="id of the uploaded video"),
    ] = None
    url: Annotated[
        str | None,
        Field(pattern=r"^https?://\S+$", max_length=2048, description="or where it is: https only"),
    ] = None
    language: Annotated[
        str, Field(pattern=LANGUAGE, description="of descriptions and selling points, as BCP 47")
    ] = "en"

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.source is None) == (self.url is None):
            raise ValueError("give either source or url")
        return self


def order(given: Mapping[str, Any]) -> Order | InvalidInput:
    """Validate an input, and price a minute of it."""
    try:
        wanted = Input.model_validate(given)
    except ValidationError as error:
        return invalid(error.errors(), under="/input")
    return Order(
        input=wanted.model_dump(exclude_none=True),
        source=wanted.source or "",
        url=wanted.url or "",
        units=1,
        unit_price=CREDITS_PER_MINUTE,
        promise=Promise(seconds=60),
    )


def examine(seen: MediaHead) -> Refused | None:
    """Look at what the file is, and how large, before any credits are held."""
    if seen.size_bytes > VIDEO_BYTES_MAX:
        return Refused(
            code="source-too-large",
            reason=f"The video is larger than {VIDEO_BYTES_MAX >> 30} GB. Save it smaller.",
        )
    if sniff(seen.head) not in ("mp4", "webm"):
        return Refused(
            code="type-unsupported", reason="This is no video in MP4, MOV, WebM or MKV. Convert it."
        )
    return None


def sized(ordered: Order, seen: MediaHead, read_at: ReadAt) -> Order | Refused:
    """Price the video by the length that its header names."""
    found = length_of(read_at, seen.size_bytes)
    if isinstance(found, Refused):
        return found
    if found.seconds > 60 * MINUTES_MAX:
        return Refused(
            code="video-too-long",
            reason=f"The video lasts {found.seconds / 60:.0f} minutes; {MINUTES_MAX} at most are "
            "analysed. Cut it.",
        )
    return replace(
        ordered,
        input={**ordered.input, "seconds": found.seconds},
        units=ceil(found.seconds / 60),
        promise=Promise(seconds=found.seconds),
    )


KIND = Kind(
    name="video_analysis",
    title="Video analysis",
    runs=Runs.WORKER,
    timeout_seconds=3600,
    providers=("local",),
    upload=Upload(
        content_types=("video/mp4", "video/quicktime", "video/webm", "video/x-matroska"),
        bytes_max=VIDEO_BYTES_MAX,
    ),
    order=order,
    schema=Input.model_json_schema,
    price=f"{CREDITS_PER_MINUTE} credits per minute of video",
    examine=examine,
    sized=sized,
    makes=Format(
        content_type="application/json",
        extension="json",
        pictures=tuple(f"shot-{number:03}.jpg" for number in range(1, KEY_FRAMES_MAX + 1)),
    ),
    asking=Asking(
        viewer="local",
        question=question,
        schema=answer_schema,
        doubt=doubt,
        heard=heard,
        result=result,
    ),
    judge=judge,
    limits=Limits(attempts_max=3, queue_wait_seconds=12 * 3600),
)

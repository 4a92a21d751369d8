"""What a model answers, and the one document that is delivered. Times are seconds of the video."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

VERSION: Final = 1
TEXT_CHARACTERS_MAX: Final = 4000
LIST_MAX: Final = 5000
GLIMPSE: Final = 0.1  # seconds of a shot at the edge of a part; its rest is in the next
Seconds = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1, max_length=TEXT_CHARACTERS_MAX, pattern=r"\S")]


class Closed(BaseModel):
    """Fields that are not known are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Span(Closed):
    """A stretch of the video."""

    start: Seconds
    end: Seconds


class Utterance(Span):
    """What was said, word for word, in the language that it was said in."""

    text: Text


class ShotWords(Closed):
    """What a model says of one shot."""

    number: int = Field(description="of the shot, as listed", ge=1)
    description: Text = Field(description="what is seen, in one or two sentences")
    on_screen_text: str | None = Field(
        None, max_length=TEXT_CHARACTERS_MAX, description="text that is shown, word for word"
    )


class Point(Closed):
    """A reason to buy, and where the video shows or says it."""

    text: Text
    evidence: list[Span] = Field(min_length=1, max_length=50)


class Answer(Closed):
    """What a model is to answer about one part of a video, in seconds of that part."""

    language: str | None = Field(max_length=35, description="what is spoken, as BCP 47; or null")
    spoken: bool = Field(description="whether anything is said")
    transcript: list[Utterance] = Field(max_length=LIST_MAX)
    shots: list[ShotWords] = Field(max_length=LIST_MAX)
    selling_points: list[Point] = Field(max_length=100)
    summary: Text = Field(description="what the video is about, in at most three sentences")


class Video(Closed):
    """Measured facts of the file."""

    seconds: Seconds
    width: int
    height: int
    frames_per_second: float
    codec: str


class Sound(Closed):
    """What can be heard, as measured."""

    loudness: float | None = Field(description="integrated, in LUFS")
    silences: list[Span]
    heard_seconds: Seconds = Field(description="that are not silent")


class Shot(Span):
    """From one cut to the next, as measured; the words are a model's."""

    number: int
    description: str | None
    on_screen_text: str | None
    key_frame: int | None = Field(description="which of the result's pictures, counted from 1")


class MadeBy(Closed):
    """Who was asked, how much, and what that costs by list price."""

    provider: str
    model: str | None
    listener: str | None = Field(
        default=None, description="who wrote down what is said, if not the model"
    )
    questions: int
    input_tokens: int | None
    output_tokens: int | None
    dollars: str | None


class Result(Closed):
    """The document that is delivered. What is null has its reason in `absent`."""

    version: Literal[1]
    video: Video
    sound: Sound | None = Field(description="null where there is no sound track")
    language: str | None
    summary: str | None
    transcript: list[Utterance] | None
    shots: list[Shot] = Field(min_length=1)
    selling_points: list[Point] | None
    absent: dict[str, str]
    made_by: MadeBy


class Stretch(Span):
    """One part of a video, as it is shown to a model."""

    file: str


class ViewedShot(Span):
    """A shot as the viewer found it."""

    key_frame: str | None


class Heard(Closed):
    """What the viewer writes of the sound; silences as pairs."""

    loudness: float | None
    silences: list[tuple[Seconds, Seconds]]
    heard_seconds: Seconds

    def told(self) -> Sound:
        """Word it as the document does."""
        return Sound(
            loudness=self.loudness,
            silences=[Span(start=start, end=end) for start, end in self.silences],
            heard_seconds=self.heard_seconds,
        )


class Viewing(Video):
    """What the viewer writes: facts, shots, and the parts that it made."""

    sound: Heard | None
    shots: list[ViewedShot] = Field(min_length=1)
    parts: list[Stretch] = []

    def shots_of(self, part: Span) -> list[tuple[int, Span]]:
        """List the shots that a part shows by their numbers, in seconds of that part."""
        shown = [
            (
                number,
                Span(
                    start=max(0.0, shot.start - part.start),
                    end=min(shot.end, part.end) - part.start,
                ),
            )
            for number, shot in enumerate(self.shots, start=1)
            if shot.start < part.end and shot.end > part.start
        ]
        worth = [(number, span) for number, span in shown if span.end - span.start >= GLIMPSE]
        return worth or shown


def answer_schema() -> dict[str, Any]:
    """Write the schema of an answer without references: not every model follows them."""
    whole = Answer.model_json_schema()
    return dict(_plain(whole, whole.get("$defs", {})))


def _plain(node: Any, known: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(each, known) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _plain(known[node["$ref"].rpartition("/")[2]], known)
    return {name: _plain(each, known) for name, each in node.items() if name not in _LEFT_OUT}


_LEFT_OUT: Final = {"$defs", "title", "default", "pattern", "additionalProperties"}

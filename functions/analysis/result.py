"""One document from what was measured and what models answered."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from functions.analysis.asking import read
from functions.analysis.schema import (
    VERSION,
    Answer,
    MadeBy,
    Point,
    Result,
    Shot,
    Span,
    Utterance,
    Video,
    Viewing,
)
from functions.domain.models import Answered, Listener, Model

NO_MODEL: Final = "No model was asked: what is written here was measured."
DEAF: Final = "The model that was asked sees and does not hear."
SOUNDLESS: Final = "The video has no sound."
MILLION: Final = Decimal(1_000_000)
CENTS: Final = Decimal("0.000001")


def result(
    viewing: Mapping[str, Any],
    answers: Sequence[Answered],
    order: Mapping[str, Any],
    model: Model | None,
    listener: Listener | None = None,
) -> bytes:
    """Put the answers, one for each part, beside what was measured."""
    seen = Viewing.model_validate(viewing)
    given = [read(answered.text) for answered in answers]
    if model is not None and (None in given or len(given) != len(seen.parts)):
        raise ValueError("an answer is missing")
    good = [answer for answer in given if answer is not None]
    hears = model is not None and (model.diet.sound or listener is not None)
    document = Result(
        version=VERSION,
        video=Video(**{name: getattr(seen, name) for name in Video.model_fields}),
        sound=seen.sound.told() if seen.sound else None,
        language=next((answer.language for answer in good if answer.spoken), None),
        summary=" ".join(answer.summary for answer in good) or None,
        transcript=_transcript(seen, good) if hears and seen.sound else None,
        shots=_shots(seen, good),
        selling_points=_points(seen, good) if model else None,
        absent=_absent(model, hears=hears, has_sound=seen.sound is not None),
        made_by=_made_by(seen, answers, order, model, listener),
    )
    return document.model_dump_json(indent=1).encode()


def _transcript(seen: Viewing, answers: Sequence[Answer]) -> list[Utterance]:
    return [
        Utterance(text=said.text, **_moved(said, part, seen.seconds))
        for part, answer in zip(seen.parts, answers, strict=True)
        for said in answer.transcript
    ]


def _shots(seen: Viewing, answers: Sequence[Answer]) -> list[Shot]:
    """Join what is said of a shot in several parts: where it is seen longest counts first."""
    words: dict[int, list[tuple[float, str, str | None]]] = {}
    for part, answer in zip(seen.parts, answers, strict=True) if answers else ():
        for (number, span), said in zip(seen.shots_of(part), answer.shots, strict=True):
            look = (span.end - span.start, said.description, said.on_screen_text)
            words.setdefault(number, []).append(look)
    pictures = [shot.key_frame for shot in seen.shots if shot.key_frame]
    shots = []
    for number, shot in enumerate(seen.shots, start=1):
        looks = sorted(words.get(number, ()), key=lambda look: -look[0])
        shots.append(
            Shot(
                number=number,
                start=shot.start,
                end=shot.end,
                description=looks[0][1] if looks else None,
                on_screen_text=next((text for _, _, text in looks if text), None),
                key_frame=pictures.index(shot.key_frame) + 1 if shot.key_frame else None,
            )
        )
    return shots


def _points(seen: Viewing, answers: Sequence[Answer]) -> list[Point]:
    return [
        Point(
            text=point.text,
            evidence=[Span(**_moved(span, part, seen.seconds)) for span in point.evidence],
        )
        for part, answer in zip(seen.parts, answers, strict=True)
        for point in answer.selling_points
    ]


def _moved(span: Span, part: Span, seconds: float) -> dict[str, float]:
    """Put a stretch of a part where it is in the video."""
    start = min(part.start + span.start, seconds)
    return {
        "start": round(start, 3),
        "end": round(max(start, min(part.start + span.end, seconds)), 3),
    }


def _absent(model: Model | None, *, hears: bool, has_sound: bool) -> dict[str, str]:
    missing = {} if has_sound else {"sound": SOUNDLESS}
    if model is None:
        words = ("language", "summary", "transcript", "descriptions", "selling_points")
        return missing | dict.fromkeys(words, NO_MODEL)
    if not has_sound or not hears:
        why = DEAF if has_sound else SOUNDLESS
        missing |= dict.fromkeys(("language", "transcript"), why)
    return missing


def _made_by(
    seen: Viewing,
    answers: Sequence[Answered],
    order: Mapping[str, Any],
    model: Model | None,
    listener: Listener | None,
) -> MadeBy:
    read_tokens = _sum([answered.usage.input_tokens for answered in answers])
    written_tokens = _sum([answered.usage.output_tokens for answered in answers])
    costs = [_asked(model, read_tokens, written_tokens)]
    if listener is not None:
        costs.append(_listened(listener, seen.seconds))
    known = [cost for cost in costs if cost is not None]
    return MadeBy(
        provider=model.name if model else str(order["provider"]),
        model=model.model if model else None,
        listener=listener.name if listener else None,
        questions=len(answers),
        input_tokens=read_tokens,
        output_tokens=written_tokens,
        dollars=str(sum(known, Decimal()).quantize(CENTS)) if len(known) == len(costs) else None,
    )


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _asked(
    model: Model | None, read_tokens: int | None, written_tokens: int | None
) -> Decimal | None:
    if model is None or not model.input_price or not model.output_price:
        return None
    if read_tokens is None or written_tokens is None:
        return None
    cost = Decimal(model.input_price) * read_tokens + Decimal(model.output_price) * written_tokens
    return cost / MILLION


def _listened(listener: Listener, seconds: float) -> Decimal | None:
    if not listener.minute_price:
        return None
    return Decimal(listener.minute_price) * Decimal(str(seconds)) / 60

"""A model in memory that is billed for what it answers, and a viewer without a video."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from functions.domain.jobs import NotSent, Rejected
from functions.domain.models import (
    Answered,
    Asked,
    Clip,
    Listener,
    Listening,
    Model,
    Question,
    Said,
    Showing,
    Shown,
    Transcript,
    Usage,
)
from functions.domain.outcomes import Failed, Refused, Rendered
from functions.domain.providers import BuiltIn
from tests.analysis.films import text, viewing

TRANSCRIPT = Transcript(language="fr-FR", said=(Said(start=1.0, end=2.0, text="Bonjour."),))
USAGE = Usage(input_tokens=1000, output_tokens=100)


@dataclass(slots=True)
class ScriptedModel:
    """Provides `ModelCalls`: answers well, unless a test puts something else into `next`."""

    next: list[Asked] = field(default_factory=list)
    show_next: list[Rejected | NotSent] = field(default_factory=list)
    before: Callable[[], object] | None = None  # while it thinks
    asked: list[Question] = field(default_factory=list)
    clips: list[Clip] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    listened: list[str] = field(default_factory=list)
    hear_next: list[Listening] = field(default_factory=list)

    def show(self, model: Model, clip: Clip) -> Showing:
        assert model.name
        self.clips.append(clip)
        if self.show_next:
            return self.show_next.pop(0)
        uri = f"files/{len(self.clips)}"
        self.kept.add(uri)
        return Shown(uri=uri, name=uri)

    def ask(self, model: Model, question: Question) -> Asked:
        assert question.shown.uri in self.kept
        assert model.name
        self.asked.append(question)
        if self.before:
            self.before()
        if self.next:
            return self.next.pop(0)
        part = 0 if '"number": 1,' in question.prompt else 1
        return Answered(text=text(part), usage=USAGE)

    def listen(self, listener: Listener, name: str, place: str) -> Listening:
        assert listener.name
        assert place.startswith("s3://")
        self.listened.append(name)
        return self.hear_next.pop(0) if self.hear_next else TRANSCRIPT

    def forget(self, model: Model, shown: Shown) -> None:
        assert model.name
        self.kept.discard(shown.uri)


@dataclass(slots=True)
class ScriptedViewer:
    """Provides `Workshop` for viewings: writes down what it was told to have seen."""

    seen: dict[str, Any] = field(default_factory=viewing)
    outcome: Refused | Failed | None = None
    orders: list[dict[str, Any]] = field(default_factory=list)
    between: Callable[[], object] | None = None

    def render(
        self,
        provider: BuiltIn,
        source: Path,
        out: Path,
        order: Mapping[str, Any],
        on_progress: Callable[[int, int], None],
    ) -> Rendered | Refused | Failed:
        assert provider.name == "local"
        assert source.is_file()
        self.orders.append(dict(order))
        if self.between:
            self.between()
        on_progress(1, 2)
        if self.outcome:
            return self.outcome
        seen = self.seen if order["diet"] else {**self.seen, "parts": []}
        out.write_text(json.dumps(seen), "utf-8")
        for name in [p["file"] for p in seen["parts"]] + [s["key_frame"] for s in seen["shots"]]:
            (out.parent / name).write_bytes(name.encode())
        return Rendered(path=out, content_type="application/json", facts={"seconds": 20.0})

    def shortage(self, workdir: Path) -> Failed | None:
        assert workdir.is_dir()
        return None

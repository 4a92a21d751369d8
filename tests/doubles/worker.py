"""What a worker has around it, in memory."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from functions.domain.outcomes import Failed, Refused, Rendered
from functions.domain.providers import BuiltIn
from functions.domain.work import Parcel


@dataclass(slots=True)
class MemoryInbox:
    """Provides `Inbox`; when it is empty, `idle` is called."""

    idle: Callable[[], object]
    parcels: list[Parcel] = field(default_factory=list)
    extended: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)

    def receive(self) -> Parcel | None:
        if not self.parcels:
            self.idle()
            return None
        return self.parcels.pop(0)

    def extend(self, parcel: Parcel) -> None:
        self.extended.append(parcel.handle)

    def done(self, parcel: Parcel) -> None:
        self.finished.append(parcel.handle)


@dataclass(slots=True)
class MemoryStay:
    """Provides `Stay`, for as long as a test says."""

    left: float | None = None
    protections: int = 0

    def seconds_left(self) -> float | None:
        return self.left

    def end(self, left: float = 100.0) -> None:
        self.left = left

    @contextmanager
    def protected(self) -> Iterator[None]:
        self.protections += 1
        yield


Listener = Callable[[int, int], None]


@dataclass(slots=True)
class ScriptedWorkshop:
    """Provides `Workshop`: reports steps one by one, between which a test may do something."""

    steps: int = 10
    between: Callable[[int], object] = lambda _step: None
    outcome: Refused | Failed | None = None
    seconds: float = 3.0
    short: Failed | None = None
    workdirs: list[Path] = field(default_factory=list)

    def render(
        self,
        provider: BuiltIn,
        source: Path,
        out: Path,
        order: Mapping[str, Any],
        on_progress: Listener,
    ) -> Rendered | Refused | Failed:
        assert provider.name
        assert source.is_file()
        assert order
        self.workdirs.append(out.parent)
        for step in range(self.steps + 1):
            self.between(step)
            on_progress(step, self.steps)
        if self.outcome:
            return self.outcome
        out.write_bytes(b"video")
        return Rendered(path=out, facts={"seconds": self.seconds})

    def shortage(self, workdir: Path) -> Failed | None:
        assert workdir.is_dir()
        return self.short

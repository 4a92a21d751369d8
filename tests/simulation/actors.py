"""Who makes and judges files in a simulated run, by script."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from functions.domain.kinds import Promise
from functions.domain.outcomes import Failed, Refused, Rendered
from functions.domain.providers import BuiltIn
from functions.domain.verdicts import Inspected, NotVerified, Ruling, Verdict
from tests.doubles.world import ACCEPTED

BLACK = Verdict(ruling=Ruling.REJECT, code="black", reason="The picture is black.")
BROKEN = Failed(code="encoder-failed", reason="The encoder failed.")
CUT_OFF = Refused(code="photo-truncated", reason="The photo is cut off.")


@dataclass(slots=True)
class ScriptedRenderer:
    """Renders do what `script` says, one line per call, then `always`."""

    script: list[Refused | Failed | None] = field(default_factory=list)
    always: Refused | Failed | None = None
    meanwhile: list[Callable[[], object]] = field(default_factory=list)  # one per call
    calls: int = 0

    def provider(self) -> BuiltIn:
        """Be the built-in provider."""
        return BuiltIn(name="motion", render=self.render)

    def render(
        self,
        source: Path,
        out: Path,
        order: Mapping[str, Any],
        on_progress: Callable[[int, int], None],
    ) -> Rendered | Refused | Failed:
        """Make a file, or say why not."""
        assert source.exists()
        assert order["seconds"] > 0
        self.calls += 1
        if self.meanwhile:
            self.meanwhile.pop(0)()
        on_progress(1, 2)
        outcome = self.script.pop(0) if self.script else self.always
        if outcome is not None:
            return outcome
        out.write_bytes(f"video {self.calls}".encode())
        return Rendered(path=out)


@dataclass(slots=True)
class ScriptedInspector:
    """Verdicts come as `script` says, then they are `always`."""

    script: list[Verdict | NotVerified] = field(default_factory=list)
    always: Verdict | NotVerified = ACCEPTED
    mends: bool = False

    def inspect(
        self, path: Path, promise: Promise, *, kind: str, workdir: Path
    ) -> Inspected | NotVerified:
        """Judge."""
        assert path.exists()
        assert promise.seconds > 0
        assert kind
        assert workdir.is_dir()
        verdict = self.script.pop(0) if self.script else self.always
        if isinstance(verdict, NotVerified):
            return verdict
        return Inspected(verdict=verdict, path=path, mended=self.mends)

"""One local stack: its folder, its port, and what of it is remembered between commands."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from local.trouble import LocalTrouble

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".local"  # the emulator's environment, shared by all instances

# Not 4566, where other emulators listen.
DEFAULT_PORT = 4590
REGION = "us-east-1"
ACCOUNT = "000000000000"

# The emulator's root caller, for the deploy and for looking inside. Functions never have it.
ROOT_KEY = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulator:
    """A started emulator process, which leads a process group of its own."""

    pid: int
    port: int

    @property
    def endpoint(self) -> str:
        """Where every AWS service of this instance answers."""
        # An address, not a name: SDKs then leave the bucket out of the host name.
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """`TALLYREEL_LOCAL_DIR` and `TALLYREEL_PORT` let several stacks run side by side."""

    folder: Path
    port: int = DEFAULT_PORT  # 0 picks a free one

    @classmethod
    def from_environment(cls) -> "Instance":
        """Take the instance that this shell means."""
        port = os.environ.get("TALLYREEL_PORT", str(DEFAULT_PORT))
        if not port.isdecimal():
            raise LocalTrouble(f"TALLYREEL_PORT must be a number, not {port!r}.")
        folder = Path(os.environ.get("TALLYREEL_LOCAL_DIR", TOOLS / "stack"))
        return cls(folder=folder.resolve(), port=int(port))

    @property
    def log(self) -> Path:
        """What the emulator says."""
        return self.folder / "emulator.log"

    @property
    def assembly(self) -> Path:
        """What the CDK app wrote."""
        return self.folder / "cdk.out"

    @property
    def outputs_file(self) -> Path:
        """What the deploy wrote."""
        return self.folder / "outputs.json"

    @property
    def deployed_file(self) -> Path:
        """What was deployed, as a hash."""
        return self.folder / "deployed"

    @property
    def scratch(self) -> Path:
        """Where functions unpack and write."""
        return self.folder / "tmp"

    @property
    def worker_log(self) -> Path:
        """What the worker says."""
        return self.folder / "worker.log"

    @property
    def worker_file(self) -> Path:
        """Which process the worker is, and where it works."""
        return self.folder / "worker.json"

    @property
    def _emulator_file(self) -> Path:
        return self.folder / "emulator.json"

    def remembered(self) -> Emulator | None:
        """Read which process was started; it may have died since."""
        try:
            return Emulator(**json.loads(self._emulator_file.read_text("utf-8")))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def remember(self, emulator: Emulator) -> None:
        """Write down which process was started."""
        self._emulator_file.write_text(json.dumps(asdict(emulator)), "utf-8")

    def forget(self) -> None:
        """Remove what is only true while the emulator runs."""
        for file in (self._emulator_file, self.deployed_file, self.outputs_file):
            file.unlink(missing_ok=True)

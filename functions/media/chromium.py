"""A headless Chromium of one's own: found, started with nothing to reach, spoken to, ended.

It is spoken to through a pair of pipes, so there is no port that anyone else could connect to;
when this process ends in whatever way, the pipes close and the browser ends too.
"""

import json
import os
import pwd
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

# The shell comes first: it is the one that draws a frame when told to.
NAMES = ("chromium-headless-shell", "chrome-headless-shell", "headless_shell", "chromium",
         "chromium-browser", "google-chrome-stable", "google-chrome")  # fmt: skip
REAL = Path("/usr/lib/chromium")  # behind Debian's wrapper scripts, which end by exec
INSTALL_HINT = "No Chromium found: apt-get install chromium-headless-shell"
NOBODY = "nobody"

SILENT = (
    "--headless", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update",
    "--disable-domain-reliability", "--disable-sync", "--disable-breakpad", "--mute-audio",
    "--disable-crash-reporter", "--metrics-recording-only", "--disable-default-apps",
    "--disable-speech-api", "--disable-notifications", "--use-mock-keychain",
    "--enable-features=NetworkServiceInProcess2",  # which has no network to serve
    "--renderer-process-limit=1", "--disable-site-isolation-trials", "--disable-gpu",
)  # fmt: skip
# Nothing answers on port 9, not even for addresses that need no name; loopback goes there too.
CLOSED = (
    "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>", "--disable-quic", "--dns-prefetch-disable",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--no-pings",
)  # fmt: skip
# One picture per change and the same one every time.
EXACT = (
    "--run-all-compositor-stages-before-draw", "--disable-new-content-rendering-timeout",
    "--disable-checker-imaging", "--disable-threaded-animation", "--disable-threaded-scrolling",
    "--disable-smooth-scrolling", "--disable-image-animation-resync", "--hide-scrollbars",
    "--font-render-hinting=none", "--force-color-profile=srgb", "--disable-lcd-text",
    "--disable-partial-raster", "--disable-skia-runtime-opts",
    # With it, the first picture after an inner scroll shows the old offset.
    "--disable-blink-features=RasterInducingScroll",
    "--js-flags=--stack-size=32000 --max-old-space-size=700",  # recorded pages nest deep
)  # fmt: skip
SHARED, SHARED_BYTES_MIN = Path("/dev/shm"), 512 << 20  # noqa: S108 - containers have 64 MB
FRAMES_ON_COMMAND = ("--enable-begin-frame-control",)

READ_BYTES = 1 << 20
END: Final = b"\0"
FILE_BYTES_MAX = 1 << 30  # of one file; shared memory counts
STACK_BYTES = 256 << 20  # of the main threads: layout goes as deep as the page is nested
EXIT_SECONDS = 2.0


class BrowserLost(Exception):
    """The browser went away or did not answer; the work can be tried anew."""


class NoBrowser(Exception):
    """There is none on this machine."""


class Refusal(Exception):
    """The browser answered that it cannot do what was asked."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A browser found on this machine."""

    path: Path
    on_command: bool  # draws a frame when told to


def find(preferred: Path | None = None) -> Program | None:
    """Find a browser: the given one, or the best installed one."""
    places = [preferred] if preferred else [REAL / NAMES[0], *map(_on_path, NAMES)]
    for place in places:
        if place is not None and place.is_file() and os.access(place, os.X_OK):
            return Program(path=place, on_command="shell" in place.name)
    return None


def _on_path(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found) if found else None


def _roomy(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free >= SHARED_BYTES_MIN
    except OSError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """As whom the browser runs, and whether its own sandbox is on."""

    sandboxed: bool
    user: int | None = None  # root gives up its rights; Chromium refuses a sandboxed root
    group: int | None = None


def confinement() -> Confinement:
    """See what the platform allows: the sandbox needs user namespaces, and no root."""
    user = group = None
    if os.geteuid() == 0:
        with suppress(KeyError):
            nobody = pwd.getpwnam(NOBODY)
            user, group = nobody.pw_uid, nobody.pw_gid
        if user is None:
            return Confinement(sandboxed=False)
    probe = ["unshare", "--user", "--pid", "--net", "--fork", "true"]
    try:
        tried = subprocess.run(  # noqa: S603 - a constant
            probe, user=user, group=group, extra_groups=[] if user else None, check=False,
            capture_output=True, timeout=5, cwd="/",
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return Confinement(sandboxed=False, user=user, group=group)
    return Confinement(sandboxed=tried.returncode == 0, user=user, group=group)


def _limit(kind: int, wanted: int) -> None:
    _, hard = resource.getrlimit(kind)
    bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (bound, bound))


class Chromium:
    """One browser process with a fresh profile. Not for use by several threads."""

    def __init__(
        self, program: Program, *, confined: Confinement, profiles: Path, on_command: bool,
        reach: Sequence[str] = CLOSED,
    ) -> None:  # fmt: skip
        self._profile = Path(tempfile.mkdtemp(prefix="profile-", dir=profiles))
        if confined.user is not None:
            os.chown(self._profile, confined.user, confined.group or -1)
        flags = [*SILENT, *reach, *EXACT, f"--user-data-dir={self._profile}"]
        flags += FRAMES_ON_COMMAND if on_command else ()
        flags += () if confined.sandboxed else ("--no-sandbox",)
        flags += () if _roomy(SHARED) else ("--disable-dev-shm-usage",)
        self._buffer = bytearray()
        self._next = 0
        self._on_event: dict[str, Callable[[Mapping[str, Any], str], None]] = {}
        self._process = self._start([str(program.path), *flags, "about:blank"], confined)

    def _start(self, command: list[str], confined: Confinement) -> "subprocess.Popen[bytes]":
        read_theirs, self._write = os.pipe()
        self._read, write_theirs = os.pipe()

        def prepare() -> None:
            # 3 and 4 by contract; over 200 first, for either may be one of these.
            for source, over in ((read_theirs, 203), (write_theirs, 204)):
                os.dup2(source, over)
            for over, target in ((203, 3), (204, 4)):
                os.dup2(over, target, inheritable=True)
                os.close(over)
            _limit(resource.RLIMIT_STACK, STACK_BYTES)
            _limit(resource.RLIMIT_CORE, 0)
            _limit(resource.RLIMIT_FSIZE, FILE_BYTES_MAX)

        try:
            return subprocess.Popen(  # noqa: S603 - no shell, fixed flags
                command, pass_fds=(3, 4, read_theirs, write_theirs),
                preexec_fn=prepare,  # noqa: PLW1509 - the other thread only waits
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                user=confined.user, group=confined.group, cwd="/",
                extra_groups=[] if confined.user else None,
                env={"PATH": "/usr/bin:/bin", "HOME": str(self._profile), "LANG": "C.UTF-8",
                     "TMPDIR": str(self._profile), "TZ": "UTC"},
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            raise BrowserLost("the browser does not start") from error
        finally:
            os.close(read_theirs)
            os.close(write_theirs)

    @property
    def pid(self) -> int:
        """The browser's process."""
        return self._process.pid

    def on(self, method: str, react: Callable[[Mapping[str, Any], str], None]) -> None:
        """React to an event whenever it comes, also while waiting for something else."""
        self._on_event[method] = react

    def send(self, method: str, params: Mapping[str, Any], session: str = "") -> int:
        """Send a command without waiting for its answer."""
        self._next += 1
        message: dict[str, Any] = {"id": self._next, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = memoryview(json.dumps(message).encode() + END)
        try:
            while data:
                data = data[os.write(self._write, data) :]
        except OSError as error:
            raise BrowserLost("the browser is gone") from error
        return self._next

    def call(
        self, method: str, params: Mapping[str, Any], session: str = "", *, seconds: float
    ) -> Any:
        """Send a command and return its answer."""
        number = self.send(method, params, session)
        latest = time.monotonic() + seconds
        while True:
            message = json.loads(self._receive(latest))
            if message.get("id") == number:
                if "error" in message:
                    error = message["error"]
                    raise Refusal(error.get("code", 0), str(error.get("message")))
                return message["result"]
            self._react(message)

    def _react(self, message: Mapping[str, Any]) -> None:
        method = message.get("method", "")
        if method in {"Inspector.targetCrashed", "Target.targetCrashed"}:
            raise BrowserLost("the page crashed")
        react = self._on_event.get(method)
        if react is not None:
            react(message.get("params", {}), message.get("sessionId", ""))

    def _receive(self, latest: float) -> bytes:
        searched = 0
        while (end := self._buffer.find(END, searched)) < 0:
            searched = len(self._buffer)
            left = latest - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                raise BrowserLost("the browser does not answer")
            data = os.read(self._read, READ_BYTES)
            if not data:
                raise BrowserLost("the browser is gone")
            self._buffer += data
        message = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return message

    def close(self) -> None:
        """End it without asking and remove its profile. Its children follow their pipes."""
        for pipe in (self._write, self._read):
            with suppress(OSError):
                os.close(pipe)
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_SECONDS)
        shutil.rmtree(self._profile, ignore_errors=True)

"""The console in a browser of its own: a hand that points and types, and rrweb's recorder.

The recorder is put in through the browser's own protocol, which the page's content security
policy neither allows nor forbids: the console is served exactly as to anybody else.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from functions.media.capture import PLAYER
from functions.media.chromium import BrowserLost, Chromium, Program, Refusal, confinement
from local.trouble import LocalTrouble

WIDTH, HEIGHT = 1280, 720
RECORDER = PLAYER / "node_modules" / "rrweb" / "dist" / "rrweb.umd.min.cjs"
# This stack and nothing else.
LOOPBACK = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE *.localhost, EXCLUDE 127.0.0.1",
    "--no-proxy-server", "--disable-quic", "--no-pings",
)  # fmt: skip
COMMAND_SECONDS = 20.0
PATIENCE_SECONDS = 30.0
GLANCE_SECONDS = 0.1
STEP_SECONDS = 1 / 60  # a hand's way is seen as often as a screen shows it
MOVE_SECONDS_MIN, MOVE_SECONDS_MAX, MOVE_PIXELS_PER_SECOND = 0.25, 0.7, 1600
BEND = 0.06  # no hand goes straight
KEY_SECONDS = 0.045
WHEEL_PIXELS, WHEEL_SECONDS = 60, 0.04
MARGIN = 40  # what is pointed at lies this far inside the window

KEEP = "tallyreelKeep"
RECORD = f"""
window.tallyreelStop = rrweb.record({{
  emit: (event) => {KEEP}(JSON.stringify(event)),
  maskInputOptions: {{ password: true }},
}});
"""
# Where the first visible match lies, by its centre.
PLACE = """
((selector) => {
  const found = [...document.querySelectorAll(selector)].find((each) => each.checkVisibility());
  if (!found) return null;
  const { left, top, width, height } = found.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
})(%s)
"""


class Visit:
    """Somebody before the console. What is seen on the page becomes a recording."""

    def __init__(self, browser: Chromium, address: str) -> None:
        self._browser = browser
        self._at = (WIDTH * 0.7, HEIGHT * 0.8)
        self._events: list[Any] = []
        self._pictures: dict[str, str] = {}  # what the page loaded, as data
        self._loaded: list[Mapping[str, Any]] = []
        blank = {"url": "about:blank"}
        made = browser.call("Target.createTarget", blank, seconds=COMMAND_SECONDS)
        attached = browser.call(
            "Target.attachToTarget",
            {"targetId": made["targetId"], "flatten": True},
            seconds=COMMAND_SECONDS,
        )
        self._session = str(attached["sessionId"])
        browser.on("Runtime.bindingCalled", self._heard)
        browser.on("Network.responseReceived", self._received)
        for domain in ("Page", "Runtime", "Network", "DOM"):
            self._call(f"{domain}.enable")
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **size)
        self._call("Emulation.setFocusEmulationEnabled", enabled=True)
        self._call("Page.navigate", url=address)

    # --- the recorder ----------------------------------------------------------------------------

    def record(self) -> None:
        """Begin, with the page as it stands."""
        self._call("Runtime.addBinding", name=KEEP)
        self._run(RECORDER.read_text("utf-8"))
        self._run(RECORD)

    def recorded(self) -> list[Any]:
        """End, and return what happened, with the pictures in it."""
        self.pause(0.6)  # the recorder tells of the pointer twice a second
        self._run("tallyreelStop()")
        self.pause(GLANCE_SECONDS)
        return [_with(self._pictures, event) for event in self._events]

    def _heard(self, params: Mapping[str, Any], _session: str) -> None:
        if params["name"] == KEEP:
            self._events.append(json.loads(params["payload"]))

    def _received(self, params: Mapping[str, Any], _session: str) -> None:
        if params["type"] == "Image":
            self._loaded.append(params)

    def _keep_pictures(self) -> None:
        """Take what was loaded out of the browser; links to it end, the recording lasts."""
        for loaded in [self._loaded.pop() for _ in range(len(self._loaded))]:
            address, kind = loaded["response"]["url"], loaded["response"]["mimeType"]
            try:
                body = self._call("Network.getResponseBody", requestId=loaded["requestId"])
            except Refusal:  # still on its way
                self._loaded.append(loaded)
                continue
            data = body["body"]
            if not body["base64Encoded"]:
                data = base64.b64encode(data.encode()).decode("ascii")
            self._pictures[address] = f"data:{kind};base64,{data}"

    # --- what a person does ----------------------------------------------------------------------

    def wait(self, selector: str, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until something is there to be seen."""
        for _ in range(round(seconds / GLANCE_SECONDS)):
            if self._place(selector) is not None:
                return
            self.pause(GLANCE_SECONDS)
        raise LocalTrouble(
            f"The console showed no {selector} within {seconds:.0f} s, so its use could not be "
            "recorded. No film was ordered. `make logs` shows what the functions say."
        )

    def pause(self, seconds: float) -> None:
        """Look at the page for a while."""
        milliseconds = round(1000 * seconds)
        self._run(f"new Promise((over) => setTimeout(over, {milliseconds}))")
        self._keep_pictures()

    def click(self, selector: str) -> None:
        """Go there and click."""
        self.point(selector)
        x, y = self._at
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def point(self, selector: str) -> None:
        """Move the pointer there, at a hand's pace; scroll first if need be."""
        self.wait(selector)
        self._bring_in(selector)
        place = self._place(selector)
        if place is None:
            raise LocalTrouble(f"{selector} went away before it could be pointed at.")
        (x, y), (to_x, to_y) = self._at, place
        length = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5
        seconds = min(max(MOVE_SECONDS_MIN, length / MOVE_PIXELS_PER_SECOND), MOVE_SECONDS_MAX)
        steps = max(1, round(seconds / STEP_SECONDS))
        for step in range(1, steps + 1):
            part = step / steps
            part = part * part * (3 - 2 * part)
            aside = BEND * 4 * part * (1 - part)
            self._move(
                x + (to_x - x) * part - (to_y - y) * aside,
                y + (to_y - y) * part + (to_x - x) * aside,
            )
            self.pause(STEP_SECONDS)

    def type(self, selector: str, text: str) -> None:
        """Click into a field, replace what is there, key by key."""
        self.click(selector)
        self._run("document.activeElement.select()")
        for letter in text:
            self._call("Input.dispatchKeyEvent", type="keyDown", text=letter, key=letter)
            self._call("Input.dispatchKeyEvent", type="keyUp", key=letter)
            self.pause(KEY_SECONDS)

    def choose(self, selector: str, file: Path) -> None:
        """Choose a file. The dialog itself belongs to no page, and is not shown."""
        self.point(selector)
        found = self._call("Runtime.evaluate", expression=f"document.querySelector({selector!r})")
        self._call("DOM.setFileInputFiles", files=[str(file)], objectId=found["result"]["objectId"])

    def scroll(self, pixels: float) -> None:
        """Turn the wheel."""
        x, y = self._at
        for _ in range(round(abs(pixels) / WHEEL_PIXELS)):
            turned = WHEEL_PIXELS if pixels > 0 else -WHEEL_PIXELS
            self._call(
                "Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=turned
            )
            self.pause(WHEEL_SECONDS)

    def _bring_in(self, selector: str) -> None:
        place = self._place(selector)
        if place is None:
            return
        if place[1] > HEIGHT - MARGIN:
            self.scroll(place[1] - HEIGHT * 0.6)
        elif place[1] < MARGIN / 2:
            self.scroll(place[1] - HEIGHT * 0.4)

    def _move(self, x: float, y: float) -> None:
        self._at = (x, y)
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def _place(self, selector: str) -> tuple[float, float] | None:
        found = self._run(PLACE % json.dumps(selector))
        return None if found is None else (float(found[0]), float(found[1]))

    # --- the browser's side ----------------------------------------------------------------------

    def _run(self, expression: str) -> Any:
        answer = self._call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            told = answer["exceptionDetails"]
            raise BrowserLost(str(told.get("exception", told).get("description", told["text"])))
        return answer["result"].get("value")

    def _call(self, method: str, **params: Any) -> Any:
        return self._browser.call(method, params, self._session, seconds=COMMAND_SECONDS)


@contextmanager
def visiting(program: Program, address: str, *files: Path) -> Iterator[tuple[Visit, list[Path]]]:
    """Open the console; give copies of files that the browser's user can read."""
    with TemporaryDirectory(prefix="tallyreel-visit-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        copies = [folder / file.name for file in files]
        for file, copy in zip(files, copies, strict=True):
            copy.write_bytes(file.read_bytes())
            copy.chmod(0o644)
        browser = Chromium(
            program, confined=confinement(), profiles=folder, on_command=False, reach=LOOPBACK
        )
        try:
            yield Visit(browser, address), copies
        except (BrowserLost, Refusal) as error:
            raise LocalTrouble(
                f"The browser that recorded the console gave up: {error}. No film was ordered. "
                "Run it again."
            ) from error
        finally:
            browser.close()


def _with(pictures: Mapping[str, str], value: Any) -> Any:
    """Put pictures where their addresses were."""
    if isinstance(value, str):
        return pictures.get(value, value)
    if isinstance(value, dict):
        return {key: _with(pictures, each) for key, each in value.items()}
    if isinstance(value, list):
        return [_with(pictures, each) for each in value]
    return value

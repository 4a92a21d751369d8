"""The recorded page in the browser: brought to a time, asked for damage, photographed."""

import base64
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from functions.media.chromium import BrowserLost, Chromium, Refusal

PLAYER = Path(__file__).with_name("player")
REPLAYER = PLAYER / "node_modules" / "@rrweb" / "replay" / "dist"
SCRIPTS = (REPLAYER / "replay.umd.min.cjs", PLAYER / "cleanse.js", PLAYER / "player.js")

ADDRESS = "http://player.invalid/"  # never asked for: answered from here, as nothing else is
# The page that is played inherits this: nothing in it may run, load or leave.
POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data: blob:; worker-src 'none'; frame-src 'none'; "
    "connect-src 'none'; form-action 'none'; base-uri 'none'"
)
FRAME_MS = 40.0  # any step will do for the compositor's clock, as long as it moves on
PICTURE = {"format": "jpeg", "quality": 88}  # chroma is halved as in the video anyway
TRIES = 4  # a page's very first frames can come without a picture
COMMAND_SECONDS = 10.0  # a frame takes 20 ms; browsers have hung here for good
STEP_SECONDS = 60.0  # building a page of 100,000 nodes takes seconds


@cache
def player_page() -> tuple[str, bytes]:
    """Put the player's page together: its policy, and the page with the scripts in it."""
    nonce = secrets.token_urlsafe(16)
    page = (PLAYER / "player.html").read_text("utf-8")
    scripts = "".join(
        f'<script nonce="{nonce}">{_unclosed(path.read_text("utf-8"))}</script>' for path in SCRIPTS
    )
    return POLICY.format(nonce=nonce), page.replace("</body>", scripts + "</body>").encode()


def _unclosed(script: str) -> str:
    return script.replace("</script", "<\\/script")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """How the page stands after a step."""

    # Milliseconds after which everything that moves by itself has been seen once; -1 if it
    # moves on to an end, 0 if nothing moves.
    live: float
    scale: float  # from recorded pixels to the picture's
    left: float  # of the recorded page in the picture
    top: float
    inner_left: float  # of the document under the pointer in the recorded page
    inner_top: float

    def still(self) -> "Stand":
        """Return the same stand, with nothing that moves."""
        return replace(self, live=0.0)


class Page:
    """A page of the size of the video, with the replayer in it."""

    def __init__(
        self, browser: Chromium, *, size: tuple[int, int], window: tuple[int, int],
        on_command: bool,
    ) -> None:  # fmt: skip
        self._browser, self._on_command = browser, on_command
        self._ticks = 1000.0
        self.blocked = 0  # requests that were refused
        self._given = False
        # Taking a picture damages the page itself; one frame uses that up.
        self._spent = False
        width, height = size
        target: dict[str, Any] = {"url": "about:blank"}
        if on_command:  # elsewhere only new windows can be given a size, and metrics are enough
            target |= {"width": width, "height": height, "enableBeginFrameControl": True}
        made = self._call("Target.createTarget", target)
        attached = self._call(
            "Target.attachToTarget", {"targetId": made["targetId"], "flatten": True}
        )
        self._session = str(attached["sessionId"])
        browser.on("Fetch.requestPaused", self._answer)
        self._page("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
        self._page("Page.enable", {})
        self._page("Browser.setDownloadBehavior", {"behavior": "deny"})
        self._page("Emulation.setFocusEmulationEnabled", {"enabled": True})
        if not on_command:
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            self._page("Emulation.setDeviceMetricsOverride", metrics)
        self._page("Page.navigate", {"url": ADDRESS})
        self._await_player()
        self._evaluate(f"Player.start({width}, {height}, {window[0]}, {window[1]})")

    # --- what a replay asks for ------------------------------------------------------------------

    def step(self, time_ms: float, text: str, *, sure: bool = False) -> Stand:
        """Apply events and bring the page to a time; `sure` if a picture is taken anyway."""
        if self._spent and not sure:
            self._frame()
            self._spent = False
        answer = self._page(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": "function(time, text) { return this.step(time, text) }",
                "objectId": self._player,
                "arguments": [{"value": time_ms}, {"value": text}],
                "returnByValue": True,
                "awaitPromise": True,
            },
            seconds=STEP_SECONDS,
        )
        live, scale, left, top, inner_left, inner_top = _value(answer)
        return Stand(live=live, scale=scale, left=left, top=top,
                     inner_left=inner_left, inner_top=inner_top)  # fmt: skip

    def look(self, *, sure: bool) -> bytes | None:
        """Take a picture as JPEG if anything that is seen has changed, or for `sure`."""
        if not self._on_command:
            shot = self._page("Page.captureScreenshot", {**PICTURE, "optimizeForSpeed": True})
            return base64.b64decode(shot["data"])
        if not sure and not self._frame()["hasDamage"]:
            return None
        for _ in range(TRIES):
            data = self._frame(PICTURE).get("screenshotData")
            if data:
                self._spent = True
                return base64.b64decode(data)
        raise BrowserLost("the browser draws no picture")

    def tidy(self) -> None:
        """Give back the memory of what the page no longer holds."""
        self._page("HeapProfiler.collectGarbage", {})

    def ask(self, expression: str) -> Any:
        """Return what an expression comes to in the player's page."""
        return self._evaluate(expression)

    # --- the browser's side ----------------------------------------------------------------------

    def _frame(self, shot: Mapping[str, Any] | None = None) -> Any:
        self._ticks += FRAME_MS
        params: dict[str, Any] = {"frameTimeTicks": self._ticks, "interval": FRAME_MS}
        if shot is not None:
            params["screenshot"] = shot
        return self._page("HeadlessExperimental.beginFrame", params)

    def _await_player(self) -> None:
        for _ in range(200):
            try:
                answer = self._page("Runtime.evaluate", {"expression": "typeof Player.step"})
                if answer["result"].get("value") == "function":
                    break
            except Refusal:  # the old page went away meanwhile
                pass
        else:
            raise BrowserLost("the player did not start")
        world = self._page("Runtime.evaluate", {"expression": "Player"})
        self._player = str(world["result"]["objectId"])

    def _evaluate(self, expression: str) -> Any:
        return _value(
            self._page("Runtime.evaluate", {"expression": expression, "returnByValue": True})
        )

    def _answer(self, params: Mapping[str, Any], session: str) -> None:
        """Give the player's page once; refuse everything else."""
        number = params["requestId"]
        if params["request"]["url"] == ADDRESS and not self._given:
            self._given = True
            policy, page = player_page()
            headers = {"Content-Type": "text/html; charset=utf-8",
                       "Content-Security-Policy": policy}  # fmt: skip
            self._browser.send(
                "Fetch.fulfillRequest",
                {
                    "requestId": number,
                    "responseCode": 200,
                    "responseHeaders": [{"name": k, "value": v} for k, v in headers.items()],
                    "body": base64.b64encode(page).decode("ascii"),
                },
                session,
            )
            return
        self.blocked += 1
        self._browser.send(
            "Fetch.failRequest", {"requestId": number, "errorReason": "BlockedByClient"}, session
        )

    def _page(
        self, method: str, params: Mapping[str, Any], *, seconds: float = COMMAND_SECONDS
    ) -> Any:
        return self._browser.call(method, params, self._session, seconds=seconds)

    def _call(self, method: str, params: Mapping[str, Any]) -> Any:
        return self._browser.call(method, params, seconds=COMMAND_SECONDS)


def _value(answer: Mapping[str, Any]) -> Any:
    if "exceptionDetails" in answer:
        raise BrowserLost(f"the player failed: {answer['exceptionDetails'].get('text')}")
    return answer["result"].get("value")

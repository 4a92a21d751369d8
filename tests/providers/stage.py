"""A provider wired to its stand-in over real HTTP, and a hook that remembers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from functions.adapters.provider_http import ProviderHttp
from functions.domain.hooks import Delivery, Judgement, delivery
from functions.domain.jobs import Accepted, Job, Observation, RenderOrder
from functions.domain.providers import Remote, Secrets, configured
from functions.providers import load
from local.fakes import vendor
from local.fakes.script import Script
from local.fakes.server import FakeServer
from local.fakes.vendor import Vendor
from tests.doubles.world import FixedClock

CLIP = bytes(range(256)) * 64
TOKEN = "8Zk2mQvT4bWn6XyR1sLd9GhJ"
OTHER_TOKEN = "aaaaaaaaaaaaaaaaaaaaaaaa"


REMOTES: dict[str, Remote] = {
    name: provider for name, provider in load().items() if isinstance(provider, Remote)
}


def order(**changes: Any) -> RenderOrder:
    given: dict[str, Any] = {
        "token": TOKEN,
        "prompt": "slow zoom in",
        "seconds": 5,
        "aspect": "16:9",
        "photo_url": "https://photos.example/p.jpg?signature=photo-secret",
        "photo": b"\xff\xd8\xff",
    }
    return RenderOrder(**(given | changes))


def order_for(provider: Remote, **changes: Any) -> RenderOrder:
    """Order a length that the provider's model makes."""
    allowed: tuple[int, ...] = getattr(provider, "seconds_allowed", (5,))
    return order(**({"seconds": allowed[0]} | changes))


class HookCatcher:
    """Listens for calls and keeps them; answers `status`."""

    def __init__(self) -> None:
        self.status = 202
        self.caught: list[Delivery] = []
        catcher = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                token = self.path.rpartition("/")[2]
                caught = delivery(token, dict(self.headers.items()), body.decode(), is_base64=False)
                assert caught is not None
                catcher.caught.append(caught)
                self.send_response(catcher.status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def url(self, provider: str, token: str) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1/hooks/{provider}/{token}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@dataclass(slots=True)
class Stage:
    provider: Remote
    vendor: Vendor
    server: FakeServer
    hook: HookCatcher
    clock: FixedClock
    calls: ProviderHttp = field(init=False)

    def __post_init__(self) -> None:
        self.calls = ProviderHttp(lambda _name: self.secrets, self.clock)

    @property
    def secrets(self) -> Secrets:
        values = {name: tuple(values) for name, values in self.vendor.secrets().items()}
        return Secrets(values=values)

    def order(self, **changes: Any) -> RenderOrder:
        token = changes.get("token", TOKEN)
        hook_url = self.hook.url(self.provider.name, token)
        return order_for(self.provider, **({"hook_url": hook_url} | changes))

    def accepted(self, script: Script | None = None, **changes: Any) -> Job:
        if script:
            self.vendor.scripts.append(script)
        answer = self.calls.submit(self.provider, self.order(**changes))
        assert isinstance(answer, Accepted), answer
        return answer.job

    def observed(self, script: Script, **changes: Any) -> Observation:
        return self.calls.observe(self.provider, self.accepted(script, **changes))

    def judged(self) -> list[Judgement]:
        self.server.settle()
        return [self.calls.judge(self.provider, caught) for caught in self.hook.caught]


@contextmanager
def stage_for(name: str, **options: Any) -> Iterator[Stage]:
    clock = FixedClock()
    fake = vendor(name)(CLIP, clock=lambda: clock.now().timestamp())
    hook = HookCatcher()
    with FakeServer(fake, calls=False) as server:
        provider = configured(REMOTES[name], {**fake.options(), **options})
        stage = Stage(provider=provider, vendor=fake, server=server, hook=hook, clock=clock)
        try:
            yield stage
        finally:
            stage.calls.close()
            hook.close()

"""A worker's own end, by real signals in a process of its own."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import boto3
import pytest

from functions.adapters.stay import SignalledStay
from functions.pipeline.tend import StayOver
from local.instance import ROOT

WORKING = """
import time
from functions.adapters.stay import SignalledStay
class Over(Exception): pass
stay = SignalledStay(grace_seconds={0}, over=Over)
stay.heed()
with stay.protected():
    print("busy", flush=True)
    try:
        while stay.seconds_left() is None:
            time.sleep(0.05)
        print("told", stay.seconds_left() <= {0}, flush=True)
        while True:
            time.sleep(60)
    except Over:
        print("over", flush=True)
print("idle", flush=True)
time.sleep(60)
"""


def talk(grace: float) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WORKING.format(grace)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def test_at_work_it_is_told_and_its_time_comes_and_idle_it_ends_at_once() -> None:
    with talk(0.3) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "busy\n"
        process.terminate()
        assert [process.stdout.readline() for _ in range(3)] == ["told True\n", "over\n", "idle\n"]
        process.terminate()
        assert process.wait(30) == 0


class _Agent(BaseHTTPRequestHandler):
    """The container service's agent, as far as it is asked."""

    asked: list[tuple[str, object]] = []  # noqa: RUF012 - one per test
    status = 200

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append((self.path, json.loads(body)))
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture(params=[200, 400])
def agent(request: pytest.FixtureRequest) -> Iterator[str]:
    _Agent.asked.clear()
    _Agent.status = request.param
    with HTTPServer(("127.0.0.1", 0), _Agent) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}/api/task"
        server.shutdown()
        serving.join()


def test_it_is_protected_while_it_works_whatever_the_agent_says(agent: str) -> None:
    stay = SignalledStay(grace_seconds=1, over=RuntimeError, agent=agent)
    worked = False

    with stay.protected():
        worked = True

    path = "/api/task/task-protection/v1/state"
    assert worked
    assert _Agent.asked == [
        (path, {"ProtectionEnabled": True, "ExpiresInMinutes": 240}),
        (path, {"ProtectionEnabled": False}),
    ]


def test_the_end_is_noticed_within_a_call_of_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise StayOver

    monkeypatch.setattr("urllib3.connectionpool.HTTPConnectionPool.urlopen", interrupted)
    client = boto3.client(
        "sqs",
        region_name="eu-west-1",
        endpoint_url="http://127.0.0.1:9",
        aws_access_key_id="a",
        aws_secret_access_key="b",
    )
    with pytest.raises(StayOver):
        client.list_queues()

"""The image's main as a process: it starts clean, waits for tickets, and ends when told to."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from queue import Queue

from local.instance import ROOT


class _NoTickets(BaseHTTPRequestHandler):
    """A queue with nothing in it."""

    asked: "Queue[dict[str, object]]" = Queue()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.put(body)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def empty_queue() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _NoTickets) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        serving.join()


def test_it_starts_clean_waits_and_ends_when_told_to(tmp_path: Path) -> None:
    (tmp_path / "job-of-a-killed-one").mkdir()
    with empty_queue() as address:
        environment = {
            "PATH": os.environ["PATH"],
            "AWS_ENDPOINT_URL": address,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "POWERTOOLS_SERVICE_NAME": "worker",
            "TALLYREEL_TABLE": "tasks",
            "TALLYREEL_BUCKET": "media",
            "TALLYREEL_QUEUE_URLS": json.dumps({"session_to_video": f"{address}/1/queue"}),
            "TALLYREEL_SCRATCH": str(tmp_path),
            "TALLYREEL_GRACE_SECONDS": "5",
        }
        command = [sys.executable, "-m", "functions.entrypoints.worker"]
        with subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        ) as worker:
            asked = _NoTickets.asked.get(timeout=60)
            worker.terminate()
            said = worker.stdout.read() if worker.stdout else ""
            assert worker.wait(60) == 0

    assert (asked["WaitTimeSeconds"], asked["VisibilityTimeout"]) == (20, 90)
    first = json.loads(said.splitlines()[0])
    assert (first["outcome"], first["removed"]) == ("ready", 1)
    assert list(tmp_path.iterdir()) == []

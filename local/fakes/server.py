"""Serves a stand-in on this machine's own address, and makes its calls."""

import http.client
import json
import socket
import threading
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

from local.fakes.vendor import (
    Answer,
    Call,
    Due,
    HangUp,
    Played,
    Refusal,
    Request,
    Vendor,
    request_of,
)

HOST = "127.0.0.1"
CALL_SECONDS = 10.0
LOOK_SECONDS = 0.02


class FakeServer:
    """A running stand-in. `hook_base` takes the place of the scheme and host of hook addresses.

    It calls hooks by itself, or, with `calls` off, when told to `settle`.
    """

    def __init__(
        self, vendor: Played, *, port: int = 0, hook_base: str | None = None, calls: bool = True
    ) -> None:
        self.vendor = vendor
        self.hook_base = hook_base
        self._stop = threading.Event()
        self._http = _Server((HOST, port), _handler(self))
        vendor.address = self.address
        self._threads = [
            threading.Thread(target=self._http.serve_forever, args=(LOOK_SECONDS,), daemon=True),
        ]
        if calls and isinstance(vendor, Vendor):
            self._threads.append(threading.Thread(target=self._make_calls, daemon=True))
        for thread in self._threads:
            thread.start()

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://{HOST}:{self._http.server_port}"

    @property
    def connections(self) -> int:
        """How many connections were made to it."""
        return self._http.connections

    def close(self) -> None:
        """Stop listening and calling."""
        self._stop.set()
        self._http.shutdown()
        self._http.server_close()
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reply(self, request: Request) -> Answer:
        """Answer one request: a control of the stand-in, a file, or the vendor's own."""
        if request.path.startswith("/_fake/"):
            try:
                return self._control(request)
            except (ValueError, TypeError, KeyError) as error:
                return Answer(status=400, content={"detail": str(error)})
        try:
            return self._answered(request)
        finally:
            for due in self._early():  # while the client still waits for its answer
                self._call(due)

    def pause(self, seconds: float) -> None:
        """Let time pass, unless it is stopped meanwhile."""
        self._stop.wait(seconds)

    def _early(self) -> list[Due]:
        if not isinstance(self.vendor, Vendor):
            return []
        with self.vendor.lock:
            early, self.vendor.calls_now = self.vendor.calls_now, []
            return early

    def _answered(self, request: Request) -> Answer:
        vendor = self.vendor
        with vendor.lock:
            if isinstance(vendor, Vendor) and request.path.startswith("/files/"):
                return vendor.file(request)
            try:
                return vendor.answer(request)
            except Refusal as refusal:
                answer = vendor.refusal(refusal.script.refuse)
                wait = refusal.script.retry_after_seconds
                headers = {**answer.headers, **({"retry-after": str(wait)} if wait else {})}
                return replace(answer, headers=headers)

    def settle(self) -> None:
        """Make every call that is due by now, and come back when they are made."""
        while self._call_next():
            pass

    def _control(self, request: Request) -> Answer:
        vendor, given = self.vendor, request.json()
        with vendor.lock:
            if request.path == "/_fake/script" and request.method == "POST":
                return Answer(content={"waiting": vendor.told(given)})
            if request.path == "/_fake/advance" and request.method == "POST":
                vendor.ahead += float(given["seconds"])
                return Answer(content={"now": vendor.now()})
            if request.path == "/_fake/hook-base" and request.method == "POST":
                self.hook_base = str(given["url"])
                return Answer(content={"url": self.hook_base})
            if request.path == "/_fake/billed":
                return Answer(content=vendor.bill())
            if request.path == "/_fake/jobs" and isinstance(vendor, Vendor):
                jobs = vendor.jobs.values()
                return Answer(
                    content=[
                        {"id": j.id, "phase": vendor.phase(j), **asdict(j.script)} for j in jobs
                    ]
                )
        return Answer(status=404, content={"detail": "no such control"})

    def _make_calls(self) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            self.settle()

    def _call_next(self) -> bool:
        vendor = self.vendor
        if not isinstance(vendor, Vendor):
            return False
        with vendor.lock:
            ready = [due for due in vendor.due if due.at <= vendor.now()]
            if not ready:
                return False
            due = min(ready)
            vendor.due.remove(due)
        self._call(due)
        return True

    def _call(self, due: Due) -> None:
        vendor = self.vendor
        assert isinstance(vendor, Vendor)  # noqa: S101 - nobody else has calls to make
        if _delivered(self._aimed(vendor.call(due.job, due.phase))):
            return
        due.tries += 1
        if due.tries < vendor.call_tries:
            due.at = vendor.now() + vendor.call_again_seconds
            with vendor.lock:
                vendor.due.append(due)

    def _aimed(self, call: Call) -> Call:
        if self.hook_base is None:
            return call
        parts = urlsplit(call.url)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        return Call(url=self.hook_base.rstrip("/") + path, headers=call.headers, body=call.body)


def _delivered(call: Call) -> bool:
    """Call a hook on this machine, following nothing. Others are not called."""
    parts = urlsplit(call.url)
    host = parts.hostname or ""
    if parts.scheme != "http" or not (host in (HOST, "localhost") or host.endswith(".localhost")):
        return False
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = http.client.HTTPConnection(HOST, parts.port or 80, timeout=CALL_SECONDS)
    try:
        sent = {"content-type": "application/json", "host": parts.netloc, **call.headers}
        connection.request("POST", path, call.body, sent)
        with connection.getresponse() as response:
            response.read()
            return response.status // 100 == 2  # noqa: PLR2004 - the class of an HTTP status
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    connections = 0

    def get_request(self) -> tuple[socket.socket, Any]:
        """Count connections, for those who must not share one."""
        self.connections += 1
        return super().get_request()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet: clients of a stand-in hang up as part of the play."""


def _handler(server: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = CALL_SECONDS
        disable_nagle_algorithm = True

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            request = request_of(self.command, self.path, dict(self.headers.items()), body)
            try:
                answer = server.reply(request)
            except HangUp:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            server.pause(answer.after_seconds)
            _send(self, answer)

        do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - the library's names

    return Handler


def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    raw = answer.raw if answer.raw is not None else json.dumps(answer.content).encode()
    kind = {} if answer.raw is not None else {"content-type": "application/json"}
    handler.send_response(answer.status)
    for name, value in {**kind, **answer.headers}.items():
        handler.send_header(name, value)
    handler.send_header("content-length", str(answer.cut or len(raw)))
    handler.end_headers()
    handler.wfile.write(raw)
    if answer.cut:
        handler.close_connection = True

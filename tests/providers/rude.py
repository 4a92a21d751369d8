"""A server that answers in bytes, and may not answer at all."""

import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass(slots=True)
class Rude:
    port: int
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def answer(body: bytes, *, status: str = "200 OK", length: int | None = None, **more: str) -> bytes:
    length = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", "connection: close", f"content-length: {length}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


@contextmanager
def rude_server(
    pieces: Sequence[bytes | None], *, hold: bool = False, tls: ssl.SSLContext | None = None
) -> Iterator[Rude]:
    """Answer each request with the pieces in turn; None hangs up. `hold` keeps the line open."""
    listener = socket.create_server(("127.0.0.1", 0))
    rude = Rude(port=listener.getsockname()[1])
    over = threading.Event()

    def serve(line: socket.socket) -> None:
        with suppress(OSError), line:
            line.settimeout(5)
            talking = tls.wrap_socket(line, server_side=True) if tls else line
            while request := _read(talking):
                rude.requests.append(request)
                piece = pieces[min(len(rude.requests), len(pieces)) - 1]
                if piece is None:
                    return
                talking.sendall(piece)
                if hold:
                    over.wait(5)
                return

    def listen() -> None:
        with suppress(OSError):
            while True:
                line, _ = listener.accept()
                rude.connections += 1
                threads.append(threading.Thread(target=serve, args=(line,), daemon=True))
                threads[-1].start()

    threads = [threading.Thread(target=listen, daemon=True)]
    threads[0].start()
    try:
        yield rude
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in threads:
            thread.join()


def _read(line: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        more = line.recv(65536)
        if not more:
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for row in head.lower().split(b"\r\n"):
        if row.startswith(b"content-length:"):
            length = int(row.split(b":")[1])
    while len(body) < length:
        body += line.recv(65536)
    return head + b"\r\n\r\n" + body

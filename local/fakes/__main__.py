"""`python -m local.fakes fal --clip film.mp4 [--port 0] [--hook-base http://…]`, or `gemini`.

Prints one line of JSON with its address and what a client needs, then serves until it is ended.
"""

import argparse
import json
import signal
import sys
import threading
from pathlib import Path

from local.fakes import stand_in
from local.fakes.server import FakeServer
from local.fakes.vendor import Vendor
from local.guardian import end_with


def main() -> None:
    """Serve one stand-in."""
    parser = argparse.ArgumentParser(prog="python -m local.fakes", description=__doc__)
    parser.add_argument("vendor", help="the provider's name, such as fal")
    parser.add_argument("--clip", type=Path, help="the MP4 that it delivers, if it renders")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--hook-base", help="instead of the scheme and host of hook addresses")
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="how long it takes for what it does"
    )
    parser.add_argument("--guardian", type=int, help="the process that it ends with")
    given = parser.parse_args()
    kind = stand_in(given.vendor)
    if given.clip is None and issubclass(kind, Vendor):
        parser.error("--clip is needed")
    fake = kind.prepared(given.clip.read_bytes() if given.clip else b"", given.seconds)
    over = threading.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: over.set())
    if given.guardian:
        end_with(given.guardian)
    with FakeServer(fake, port=given.port, hook_base=given.hook_base) as server:
        line = {
            "vendor": given.vendor,
            "kind": fake.kind,
            "address": server.address,
            "options": fake.options(),
            "secrets": fake.secrets(),
        }
        sys.stdout.write(f"{json.dumps(line)}\n")
        sys.stdout.flush()
        over.wait()


if __name__ == "__main__":
    main()

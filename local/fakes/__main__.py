"""`python -m local.fakes fal --clip film.mp4 [--port 0] [--hook-base http://…]`.

Prints one line of JSON with its address and what a client needs, then serves until it is ended.
"""

import argparse
import json
import signal
import sys
import threading
from pathlib import Path

from local.fakes import vendor
from local.fakes.script import Script
from local.fakes.server import FakeServer
from local.guardian import end_with


def main() -> None:
    """Serve one stand-in."""
    parser = argparse.ArgumentParser(prog="python -m local.fakes", description=__doc__)
    parser.add_argument("vendor", help="the provider's name, such as fal")
    parser.add_argument("--clip", type=Path, required=True, help="the MP4 that it delivers")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--hook-base", help="instead of the scheme and host of hook addresses")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long a render takes")
    parser.add_argument("--guardian", type=int, help="the process that it ends with")
    given = parser.parse_args()
    fake = vendor(given.vendor)(given.clip.read_bytes(), Script(run_seconds=given.seconds))
    over = threading.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: over.set())
    if given.guardian:
        end_with(given.guardian)
    with FakeServer(fake, port=given.port, hook_base=given.hook_base) as server:
        line = {
            "vendor": given.vendor,
            "address": server.address,
            "options": fake.options(),
            "secrets": fake.secrets(),
        }
        sys.stdout.write(f"{json.dumps(line)}\n")
        sys.stdout.flush()
        over.wait()


if __name__ == "__main__":
    main()

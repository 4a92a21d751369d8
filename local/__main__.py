"""`python -m local up|deploy|down|status|logs|audit`."""

import argparse
import sys
import time
from collections.abc import Callable

from local import audit, emulator, logs, stack
from local.instance import Instance
from local.trouble import LocalTrouble


def main() -> int:
    """Run one command; trouble is one line and a status."""
    parser = argparse.ArgumentParser(prog="python -m local", description=__doc__)
    parser.add_argument("command", choices=sorted(COMMANDS))
    try:
        COMMANDS[parser.parse_args().command](Instance.from_environment())
    except LocalTrouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _up(instance: Instance, *, again: bool = False) -> None:
    begun = time.monotonic()
    found = stack.up(instance, again=again)
    print(f"Up after {time.monotonic() - begun:.1f} s.")
    _show(found)


def _deploy(instance: Instance) -> None:
    _up(instance, again=True)


def _down(instance: Instance) -> None:
    print("Stopped." if emulator.stop(instance) else "Nothing was running.")


def _status(instance: Instance) -> None:
    _show(stack.running(instance))


def _logs(instance: Instance) -> None:
    logs.follow(stack.running(instance))


def _audit(instance: Instance) -> None:
    audit.show(audit.audited(stack.running(instance)))


def _show(found: stack.Stack) -> None:
    print(f"API and console  {found.browser_url}")
    print(f"AWS endpoint     {found.endpoint}")
    print(f"Emulator's log   {found.instance.log}")
    print(f"Worker's log     {found.instance.worker_log}")


COMMANDS: dict[str, Callable[[Instance], None]] = {
    "up": _up,
    "deploy": _deploy,
    "down": _down,
    "status": _status,
    "logs": _logs,
    "audit": _audit,
}

if __name__ == "__main__":
    sys.exit(main())

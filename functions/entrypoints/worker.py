"""The worker image's main: its kinds' queues → render, one ticket after the other."""

import sys
from pathlib import Path
from time import sleep

from functions.bootstrap import inbox, ports, settings, stay
from functions.domain.errors import TallyreelError
from functions.domain.tickets import Ticket
from functions.entrypoints.log import bug, done, trouble
from functions.pipeline.render import Rendering
from functions.pipeline.tend import StayOver
from functions.pipeline.work import sweep_up, work

PAUSE_SECONDS = 5.0  # after trouble with AWS, so that it is not made worse


def main() -> int:
    """Work until told to end. What must not happen ends the process; its successor starts clean."""
    scratch = Path(settings()["SCRATCH"])
    left = sweep_up(scratch)
    around = stay(StayOver)
    around.heed()
    done("worker", outcome="ready", removed=left)
    while around.seconds_left() is None:
        try:
            work(ports(), inbox(), around, scratch, _said)
        except TallyreelError as error:
            trouble("worker", error)
            sleep(PAUSE_SECONDS)
        except StayOver:
            break
        except Exception as error:  # noqa: BLE001 - said in the log, then the end
            bug("worker", error)
            return 1
    done("worker", outcome="ended")
    return 0


def _said(ticket: Ticket, outcome: Rendering) -> None:
    done("worker", task=ticket.id, attempt=ticket.attempt, outcome=outcome)


if __name__ == "__main__":
    sys.exit(main())

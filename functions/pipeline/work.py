"""Work: take one ticket after the other, until this worker is told to end."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from functions.domain.ports import Ports
from functions.domain.tickets import Ticket
from functions.domain.work import Errand, Inbox, Stay
from functions.pipeline.render import Rendering, render

TRAVERSABLE = 0o711  # a browser that runs as somebody else has its profile within


def sweep_up(scratch: Path) -> int:
    """Remove what a worker left behind that was killed; this one has not begun yet."""
    scratch.mkdir(parents=True, exist_ok=True)
    scratch.chmod(TRAVERSABLE)
    left = list(scratch.iterdir())
    for path in left:
        if path.is_dir():
            rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return len(left)


def work(
    ports: Ports,
    inbox: Inbox,
    stay: Stay,
    scratch: Path,
    done: Callable[[Ticket, Rendering], None],
) -> None:
    """Work off tickets one by one. A ticket stays in the queue until its work was recorded."""
    while stay.seconds_left() is None:
        parcel = inbox.receive()
        if parcel is None:
            continue
        errand = Errand(extend=partial(inbox.extend, parcel), seconds_left=stay.seconds_left)
        workdir = Path(mkdtemp(prefix="job-", dir=scratch))
        workdir.chmod(TRAVERSABLE)
        try:
            with stay.protected():
                outcome = render(ports, parcel.ticket, workdir, errand)
                inbox.done(parcel)
        finally:
            rmtree(workdir, ignore_errors=True)
        done(parcel.ticket, outcome)

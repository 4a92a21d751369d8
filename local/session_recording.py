"""Records the session that the demonstration films: this project's own console in use."""

import json
import time
from dataclasses import dataclass
from pathlib import Path

from functions.media.chromium import Program, find
from local import user
from local.session_browser import Visit, visiting
from local.stack import Stack
from local.trouble import LocalTrouble

SECONDS = 3  # of the clip that is ordered
CREDITS = 20  # for it
READ, GLANCE = 1.4, 0.7  # as long as someone looks at a page, and at a part of it
ORDER = "form.card button.big"
LANGUAGE = ".corner button[lang]"
NO_BROWSER = (
    "The demo of session_to_video needs Chromium, which is not installed "
    "(Debian: apt-get install chromium-headless-shell). Nothing was started or ordered."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A recording on disk."""

    path: Path
    events: int
    seconds: float


def needed_browser() -> Program:
    """Find the browser before anything is begun for which it is needed."""
    program = find()
    if program is None:
        raise LocalTrouble(NO_BROWSER)
    return program


def record_console(live: Stack, email: str, photo: Path, path: Path) -> Recorded:
    """Use the console as a customer would, and write down what is seen."""
    program = needed_browser()
    password = user.made(live, email, credits=CREDITS)
    begun = time.monotonic()
    with visiting(program, live.browser_url, photo) as (visit, (copy,)):
        visit.wait("#password")
        visit.record()
        _sign_in(visit, email, password)
        _order(visit, copy)
        _see(visit)
        _look_around(visit)
        events = visit.recorded()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(events), "utf-8")
    return Recorded(path=path, events=len(events), seconds=time.monotonic() - begun)


def _sign_in(visit: Visit, email: str, password: str) -> None:
    visit.pause(GLANCE)
    visit.type("#email", email)
    visit.type("#password", password)  # the recorder puts asterisks for it
    visit.click("form button[type=submit]")
    visit.wait("a[href='#/new']")
    visit.pause(GLANCE)


def _order(visit: Visit, photo: Path) -> None:
    visit.click("nav a[href='#/new']")
    visit.wait("#file")
    visit.choose("#file", photo)
    visit.pause(GLANCE)
    visit.type("#field-seconds", str(SECONDS))
    visit.pause(GLANCE)
    visit.click(ORDER)


def _see(visit: Visit) -> None:
    visit.wait(".steps .now")
    visit.wait("#video")
    visit.pause(READ)
    visit.click("#checks summary")
    visit.pause(READ)


def _look_around(visit: Visit) -> None:
    visit.click("nav a[href='#/credits']")
    visit.wait("#credits-spent")
    visit.pause(READ)
    visit.click(LANGUAGE)
    visit.wait("html[lang^='zh'] #credits-spent")
    visit.pause(READ)
    visit.click("nav a[href='#/tasks']")
    visit.wait(".list a")
    visit.pause(READ)
    visit.click(LANGUAGE)
    visit.wait("html[lang='en'] .list a")
    visit.pause(READ)

"""A delivered result lives out its time: its file ends, then its record; the ledger stays.

S3's lifecycle and the table's time to live come some time after the moment that they are told,
so the customer looks and the auditor adds up on either side of them.
"""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from functions import bootstrap
from functions.domain.labels import EXPIRED
from functions.entrypoints import intake
from functions.pipeline.audit import audit
from tests.entrypoints.conftest import ALICE, event
from tests.simulation.story import ACCOUNT, GRANTED, KIND, TRIES, Story

OK, GONE = 200, 410
AUDIT_SECONDS = 300


@dataclass(slots=True)
class Visit:
    """A customer who looks again and again, and an auditor."""

    story: Story
    wrongs: list[str] = field(default_factory=list)

    def at(self, moment: datetime) -> None:
        """Come at a time."""
        self.story.town.ports.at.at = moment
        self._on()

    def sees(self, what: str, *, status: int = OK, link: bool = False) -> None:
        """Look at the task and at the list, and compare."""
        told, task = self._asked(f"/v1/tasks/{self.story.acknowledged[0]}")
        listed_told, listed = self._asked("/v1/tasks")
        here = told == OK
        if (told, listed_told, len(listed["tasks"])) != (status, OK, int(here)):
            self.wrongs.append(f"{what}: answered {told}, listed {listed}")
        elif here and not _agrees(task, link=link):
            self.wrongs.append(f"{what}: shown as {task}")
        elif here and (listed["tasks"][0]["message"] == EXPIRED) == link:
            self.wrongs.append(f"{what}: listed as {listed['tasks'][0]['message']}")
        elif not here and task["code"] != "task-purged":
            self.wrongs.append(f"{what}: refused with {task}")

    def audited(self, what: str) -> None:
        """Have the books and the bucket compared."""
        ports = self.story.town.ports
        until = ports.clock.now() + timedelta(seconds=AUDIT_SECONDS)
        for _ in range(TRIES):
            report = self.story.town.process("audit", lambda: audit(ports, until, at_once=True))
            if report is not None:
                break
        assert report is not None, "the audit never ended"
        self._on()
        if report.differences or report.accounts != 1:
            self.wrongs.append(f"{what}: audited as {report}")

    def _asked(self, path: str) -> tuple[int, Any]:
        """Ask as a client does: again after 5xx, or without an answer."""
        for _ in range(TRIES):
            answer = self.story.town.process("look", lambda: self._answer(path))
            if answer is not None and answer["statusCode"] < 500:
                self._on()
                return answer["statusCode"], json.loads(answer["body"])
        raise AssertionError(f"{path} was never answered")

    def _on(self) -> None:
        self.story.chapter += 1
        self.story.town.rest()

    def _answer(self, path: str) -> dict[str, Any]:
        with bootstrap.replaced(self.story.town.ports):
            return intake.handler(event("GET", path, claims=ALICE), None)


def lives_out(story: Story) -> list[str]:
    """Go through the rest of a delivered task's time, and list what is wrong."""
    town, task, visit = story.town, story.task(), Visit(story)
    assert task.output
    assert task.output.expires_at
    assert task.keep_until
    town.cloud.breaker.counting = True
    visit.sees("delivered", link=True)
    visit.at(task.output.expires_at)
    visit.sees("expired")
    visit.at(task.output.expires_at + timedelta(days=2))
    town.cloud.remove_files("out/")
    visit.sees("expired, file gone")
    visit.audited("expired, file gone")
    visit.at(task.keep_until)
    visit.sees("its time is over", status=GONE)
    visit.at(task.keep_until + timedelta(days=2))
    story.purged.add(task.id)
    town.cloud.remove_items(town.ports.clock.now())
    visit.sees("purged", status=GONE)
    visit.audited("purged")
    town.cloud.breaker.counting = False
    balance = town.ports.store.balance(ACCOUNT)
    if (balance.spent, balance.granted) != (task.price, GRANTED):
        visit.wrongs.append(f"purged: {balance}")
    return visit.wrongs


def _agrees(task: dict[str, Any], *, link: bool) -> bool:
    """Whether the page shows a file exactly while there is one, and else how to order again."""
    result, again = task["result"], task["order_again"]
    return (
        task["credits"]["state"] == "settled"
        and (result["url"] is not None) == link
        and (task["message"] == EXPIRED) != link
        and (again is None if link else again["kind"] == KIND)
    )

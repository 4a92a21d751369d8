"""Each hour → audit: starts one a day, and goes on with one that did not fit into one run."""

from datetime import timedelta
from typing import Any

from functions.bootstrap import ports
from functions.entrypoints.log import done
from functions.pipeline.audit import audit

MARGIN_SECONDS = 60  # what one more page of accounts may take


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Audit until all is read or time is nearly up; `at_once` starts a new one."""
    left = timedelta(milliseconds=context.get_remaining_time_in_millis())
    until = ports().clock.now() + left - timedelta(seconds=MARGIN_SECONDS)
    report = audit(ports(), until, at_once=bool(event.get("at_once")))
    outcome = {
        "finished": report.finished_at is not None,
        "accounts": report.accounts,
        "tasks": report.tasks,
        "entries": report.entries,
        "skipped": report.skipped,
        "differences": report.found,
    }
    done("audit", outcome=outcome)
    return outcome

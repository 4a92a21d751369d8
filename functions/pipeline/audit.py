"""Audit: add every ledger up from nothing and compare. What differs is shown, never repaired."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from functions.domain.audit import (
    DIFFERENCES_MAX,
    AuditReport,
    Books,
    Difference,
    audit_account,
)
from functions.domain.ports import Ports
from functions.domain.spend import added, newest, settled
from functions.domain.states import TaskState

READS_MAX = 5  # how often an account is read that keeps moving
ACCOUNTS_PAGE = 100
EVERY = timedelta(hours=23)  # a little less than its schedule, so that none is skipped
UPLOAD_GRACE = timedelta(hours=1)  # how old an output without a task must be to be an orphan


def audit(ports: Ports, until: datetime, *, at_once: bool = False) -> AuditReport:
    """Go on with the audit, or start one if it is time; what it found so far is kept."""
    now = ports.clock.now()
    report = ports.auditing.report()
    if report is None or (report.finished_at and (at_once or now - report.finished_at > EVERY)):
        report = AuditReport(started_at=now)
    while report.finished_at is None and ports.clock.now() < until:
        page = ports.auditing.accounts(limit=ACCOUNTS_PAGE, cursor=report.cursor)
        for account in page.items:
            report = _audited(ports, report, account)
        finished = None if page.cursor else ports.clock.now()
        report = replace(report, cursor=page.cursor, finished_at=finished)
        ports.auditing.put_report(report)
    ports.metrics.gauge("AuditDifferences", report.found)
    return report


def _audited(ports: Ports, report: AuditReport, account: str) -> AuditReport:
    books = _still(ports, account)
    if books is None:
        return replace(report, accounts=report.accounts + 1, skipped=report.skipped + 1)
    found = [*audit_account(books), *_files(ports, books)]
    lines = {(line.provider, line.day): line for line in report.spend}
    room = DIFFERENCES_MAX - len(report.differences)
    return replace(
        report,
        accounts=report.accounts + 1,
        tasks=report.tasks + len(books.tasks),
        entries=report.entries + len(books.entries),
        found=report.found + len(found),
        differences=(*report.differences, *found[: max(room, 0)]),
        spend=newest(settled(added(lines, books.attempts), books.tasks)),
    )


def _still(ports: Ports, account: str) -> Books | None:
    """Read an account whose balance does not move meanwhile: then nothing else did that counts."""
    for _ in range(READS_MAX):
        before = ports.store.balance(account)
        books = ports.auditing.books(account)
        if before == books.balance == ports.store.balance(account):
            return books
    return None


def _files(ports: Ports, books: Books) -> Iterable[Difference]:
    now = ports.clock.now()
    stored = {seen.key: seen for seen in ports.media.outputs(books.account)}
    known = {task.id for task in books.tasks}
    for key, seen in stored.items():
        if key.split("/")[2] not in known and now - seen.stored_at > UPLOAD_GRACE:
            yield Difference(
                account=books.account,
                code="file-without-task",
                subject=key,
                detail=f"{seen.size_bytes} bytes",
            )
    for task in books.tasks:
        output = task.output
        if task.state is not TaskState.DELIVERED or output is None or output.key in stored:
            continue
        if output.expires_at is None or output.expires_at > now:
            yield Difference(
                account=books.account,
                code="output-missing",
                subject=task.id,
                detail=output.key,
            )

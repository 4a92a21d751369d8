"""Runs the deployed auditor on a local stack now, and tells what it read and found."""

import json
from contextlib import closing

from functions.adapters.dynamodb_audit import DynamoAuditStore
from functions.domain.audit import AuditReport
from local.stack import Stack
from local.trouble import LocalTrouble

RUNS_MAX = 20  # each goes on where the one before had to stop


def audited(live: Stack) -> AuditReport:
    """Have everything added up anew."""
    with closing(live.client("lambda")) as functions, closing(live.client("dynamodb")) as table:
        reports = DynamoAuditStore(table, live.outputs["TableName"])
        for run in range(RUNS_MAX):
            answer = functions.invoke(
                FunctionName=live.outputs["AuditFunction"],
                Payload=json.dumps({"at_once": run == 0}),
            )
            said = json.load(answer["Payload"])
            if "FunctionError" in answer:
                raise LocalTrouble(f"The auditor failed: {said}")
            report = reports.report()
            if report and report.finished_at:
                return report
    raise LocalTrouble("The auditor did not finish. Run it again: it goes on from there.")


def show(report: AuditReport) -> None:
    """Print a report; differences are trouble."""
    print(
        f"Read {report.accounts} accounts, {report.tasks} tasks, {report.entries} ledger entries."
    )
    if report.skipped:
        print(f"Not judged: {report.skipped} accounts that were moving all the time.")
    for found in report.differences:
        print(f"  {found.account}  {found.code}  {found.subject}: {found.detail}")
    if report.found:
        raise LocalTrouble(f"Differences: {report.found}.")
    print("No differences.")

"""`make audit`: what it says of a stack, and how it ends when something differs."""

import os
import subprocess
import sys
from contextlib import closing

import pytest

from functions.adapters.dynamodb_keys import BALANCE_SK, account_pk, wire
from local.faults import FaultProxy
from local.stack import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.emulator]


def audit_of(live: Stack) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "local", "audit"],
        env=os.environ | {"TALLYREEL_LOCAL_DIR": str(live.instance.folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_audit_tells_what_it_read_and_fails_on_a_difference(
    rough: tuple[Stack, FaultProxy],
) -> None:
    live, _ = rough
    table, key = live.outputs["TableName"], {"pk": account_pk("nobody"), "sk": BALANCE_SK}
    right = audit_of(live)
    with closing(live.client("dynamodb")) as dynamodb:
        balance = {"available": 5, "held": 0, "spent": 0, "open": 0}
        dynamodb.put_item(TableName=table, Item=wire(key | balance))
        wrong = audit_of(live)
        dynamodb.delete_item(TableName=table, Key=wire(key))

    assert (right.returncode, wrong.returncode) == (0, 1)
    assert right.stdout.startswith("Read ")
    assert right.stdout.endswith("No differences.\n")
    assert "nobody  balance-differs  BALANCE" in wrong.stdout
    assert wrong.stderr == "Differences: 1.\n"

"""The settle workflow on Step Functions."""

import json
from typing import TYPE_CHECKING

from functions.adapters.aws_errors import translating
from functions.domain.ports import TaskRef

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient


class SettleWorkflow:
    """Provides `Workflow`."""

    def __init__(self, client: "SFNClient", arn: str) -> None:
        self._client = client
        self._arn = arn

    def start(self, ref: TaskRef, attempt: int) -> None:
        run = {"account": ref.account, "id": ref.id, "attempt": attempt}
        with translating():
            self._client.start_execution(stateMachineArn=self._arn, input=json.dumps(run))

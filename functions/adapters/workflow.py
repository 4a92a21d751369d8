"""The settle workflow on Step Functions."""

import json
from typing import TYPE_CHECKING

from functions.adapters.aws_errors import translating
from functions.domain.tasks import Task

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient


class SettleWorkflow:
    """Provides `Workflow`."""

    def __init__(self, client: "SFNClient", arn: str) -> None:
        self._client = client
        self._arn = arn

    def start(self, task: Task) -> None:
        run = {
            "account": task.account,
            "id": task.id,
            "attempt": task.attempt,
            "remote": task.job is not None,
        }
        with translating():
            self._client.start_execution(stateMachineArn=self._arn, input=json.dumps(run))

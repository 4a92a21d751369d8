"""A kind's queue as its worker reads it."""

import json
from itertools import cycle
from typing import TYPE_CHECKING

from functions.adapters.aws_errors import translating
from functions.domain.tickets import Ticket
from functions.domain.work import Parcel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_sqs import SQSClient

WAIT_SECONDS = 20  # the longest that SQS holds a request open
ROUND_SECONDS = 4  # over several queues: so long a ticket waits at most for its turn


class SqsInbox:
    """Provides `Inbox` over one queue or several in turn."""

    def __init__(
        self, client: "SQSClient", queues: "Mapping[str, str]", *, hidden_seconds: int
    ) -> None:
        self._client = client
        self._queues = dict(queues)
        self._turns = cycle(queues.values())
        several = len(queues) > 1
        self._wait_seconds = max(1, ROUND_SECONDS // len(queues)) if several else WAIT_SECONDS
        self._hidden_seconds = hidden_seconds

    def receive(self) -> Parcel | None:
        with translating():
            got = self._client.receive_message(
                QueueUrl=next(self._turns),
                MaxNumberOfMessages=1,
                WaitTimeSeconds=self._wait_seconds,
                VisibilityTimeout=self._hidden_seconds,
            )
        for message in got.get("Messages", []):
            ticket = Ticket(**json.loads(message["Body"]))
            return Parcel(ticket=ticket, handle=message["ReceiptHandle"])
        return None

    def extend(self, parcel: Parcel) -> None:
        with translating():
            self._client.change_message_visibility(
                QueueUrl=self._queues[parcel.ticket.lane],
                ReceiptHandle=parcel.handle,
                VisibilityTimeout=self._hidden_seconds,
            )

    def done(self, parcel: Parcel) -> None:
        with translating():
            self._client.delete_message(
                QueueUrl=self._queues[parcel.ticket.lane], ReceiptHandle=parcel.handle
            )

"""What a canceled transaction means, read by position."""

from botocore.exceptions import ClientError

from functions.adapters.aws_errors import Cause, reasons_of
from functions.adapters.dynamodb_items import balance_of
from functions.adapters.dynamodb_keys import Item, plain
from functions.adapters.dynamodb_writes import Role, Writes
from functions.domain.results import AccountFull, Busy, KeyReused, NoCredit, Replayed
from functions.domain.tasks import Task

Refusals = dict[Role, tuple[Cause | None, Item]]


def by_role(step: Writes, error: ClientError) -> Refusals:
    """Give each role its reason and the item that stood in its way."""
    reasons = reasons_of(error)
    pairs = zip(step.roles, reasons, strict=True)
    return {role: (cause, plain(item)) for role, (cause, item) in pairs}


def refusal(refused: Refusals, task: Task) -> Busy | NoCredit | AccountFull | None:
    """Name what refused an order: its lock, or its account; None if only rivals did."""
    none: tuple[Cause | None, Item] = (None, {})
    cause, item = refused.get(Role.LOCK, none)
    if cause is Cause.CONDITION:
        return Busy(id=item.get("task", ""))
    cause, item = refused.get(Role.BALANCE, none)
    if cause is not Cause.CONDITION:
        return None
    balance = balance_of(item)
    if balance.available < task.price:
        return NoCredit(available=balance.available, price=task.price)
    return AccountFull(open=balance.open)


def replay(item: Item, fingerprint: str) -> Replayed | KeyReused:
    """Tell a repeated request from another one under the same key."""
    same = item["fingerprint"] == fingerprint
    return Replayed(id=item["id"]) if same else KeyReused()

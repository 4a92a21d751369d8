"""What one delivered image_to_video task consumes: requests and capacity, and seconds.

    python -m bench.task

The stages run in this process against a bare emulator, which answers with consumed capacity;
a hook on every client counts. Seconds are taken on the running local stack, if there is one.
"""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3

from functions.bootstrap import AwsPorts, Settings
from functions.domain.media import source_key
from functions.domain.results import Created
from functions.domain.states import Effect, TaskState
from functions.domain.tasks import Task
from functions.domain.tickets import TaskRef
from functions.pipeline import intake, operate
from functions.pipeline.relay import relay, ticket_of
from functions.pipeline.render import render
from functions.pipeline.settle import settle
from functions.pipeline.verify import verify
from local import emulator, stack, tools
from local.customer import sign_in
from local.instance import REGION, ROOT_KEY, Emulator, Instance
from local.picture import draw_picture
from local.trouble import LocalTrouble
from tests.contracts.conftest import create_table

BUDGET = {"write units": 32, "read units": 8, "invocations": 16, "queue requests": 4}
ACCOUNT = TABLE = "bench"
POLLS = 4  # a client that goes by Retry-After, on a clip that takes ten seconds
# Each is one function call: upload form, order, polls; relay twice; render, verify, settle.
INVOCATIONS = 2 + POLLS + 2 + 1 + 1 + 1
RECEIVES = 2  # the queue's own side: one receive that brings the message, one delete


@dataclass(slots=True)
class Consumption:
    """Requests by service and operation, and capacity units of the table."""

    requests: Counter[str] = field(default_factory=Counter)
    units: Counter[str] = field(default_factory=Counter)

    def watch(self, client: Any) -> None:
        """Count what a client asks."""
        service = client.meta.service_model.service_name
        if service == "dynamodb":
            client.meta.events.register("provide-client-params.dynamodb", _ask_for_capacity)
        client.meta.events.register(f"after-call.{service}", self._count)

    def _count(self, model: Any, parsed: Mapping[str, Any], **_: Any) -> None:
        self.requests[f"{model.service_model.service_name} {model.name}"] += 1
        found = parsed.get("ConsumedCapacity") or []
        kind = "read units" if model.name in {"GetItem", "Query"} else "write units"
        for each in found if isinstance(found, list) else [found]:
            self.units[kind] += each["CapacityUnits"]


def _ask_for_capacity(params: dict[str, Any], model: Any, **_: Any) -> dict[str, Any]:
    takes = "ReturnConsumedCapacity" in model.input_shape.members
    return params | ({"ReturnConsumedCapacity": "TOTAL"} if takes else {})


@contextmanager
def watched_clients(live: Emulator, seen: Consumption) -> Iterator[None]:
    """Point every client that is made meanwhile at the emulator, and watch it."""
    make = boto3.client
    made: list[Any] = []

    def client(service: str, **options: Any) -> Any:
        made.append(make(service, endpoint_url=live.endpoint, **options))  # type: ignore[call-overload]
        seen.watch(made[-1])
        return made[-1]

    environment = {
        "AWS_ACCESS_KEY_ID": ROOT_KEY,
        "AWS_SECRET_ACCESS_KEY": ROOT_KEY,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
    }
    with patch.dict(os.environ, environment), patch("boto3.client", client):
        yield
    for each in made:
        each.close()


def consumption(live: Emulator, workdir: Path) -> Consumption:
    """Take one task from order to delivery and count."""
    seen = Consumption()
    with watched_clients(live, seen):
        ports = AwsPorts(Settings(environment=prepared(live)))
        operate.grant(ports, ACCOUNT, "grant-for-the-bench", 100, None)
        draw_picture(workdir / "photo.jpg")
        slot = intake.upload(ports, ACCOUNT, "image_to_video", "image/jpeg")
        if not isinstance(slot, intake.Slot):
            raise TypeError(slot)
        ports.media.put(
            workdir / "photo.jpg", source_key(ACCOUNT, slot.id), content_type="image/jpeg"
        )
        seen.requests.clear()
        seen.units.clear()
        ordered = {"source": slot.id, "seconds": 4}
        made = intake.order(ports, ACCOUNT, "key-for-the-bench", "image_to_video", ordered)
        if not isinstance(made, Created):
            raise TypeError(made)
        _worked(ports, made.task, workdir)
        taken = Consumption(requests=seen.requests.copy(), units=seen.units.copy())
        end = ports.store.get(TaskRef(account=ACCOUNT, id=made.task.id))
        if end is None or end.state is not TaskState.DELIVERED:
            raise TypeError(end)
    return taken


def _worked(ports: AwsPorts, task: Task, workdir: Path) -> None:
    ref = TaskRef(account=task.account, id=task.id)
    relay(ports, task)
    render(ports, ticket_of(task), workdir)
    for _ in range(POLLS):
        ports.store.get(ref, fresh=False)
    relay(ports, replace(task, effect=Effect.VERIFY))  # as the stream brings it
    finding = verify(ports, ref, 1, workdir)
    if finding is None:
        raise TypeError(finding)
    settle(ports, ref, 1, finding)
    ports.store.report(task)  # the last poll shows how the result was checked


def prepared(live: Emulator) -> dict[str, str]:
    """Make what the stages need, and tell their settings."""
    access = {
        "endpoint_url": live.endpoint,
        "region_name": REGION,
        "aws_access_key_id": ROOT_KEY,
        "aws_secret_access_key": ROOT_KEY,
    }
    with (
        closing(boto3.Session().client("dynamodb", **access)) as table,  # type: ignore[call-overload]
        closing(boto3.Session().client("s3", **access)) as bucket,  # type: ignore[call-overload]
        closing(boto3.Session().client("sqs", **access)) as queue,  # type: ignore[call-overload]
        closing(boto3.Session().client("stepfunctions", **access)) as workflows,  # type: ignore[call-overload]
        closing(boto3.Session().client("iam", **access)) as roles,  # type: ignore[call-overload]
    ):
        role = roles.create_role(RoleName="bench", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
        create_table(table, TABLE)
        bucket.create_bucket(Bucket="bench")
        url = queue.create_queue(QueueName="bench")["QueueUrl"]
        definition = '{"StartAt":"End","States":{"End":{"Type":"Succeed"}}}'
        arn = workflows.create_state_machine(name="bench", definition=definition, roleArn=role)[
            "stateMachineArn"
        ]
    return {
        "TALLYREEL_TABLE": TABLE,
        "TALLYREEL_BUCKET": "bench",
        "TALLYREEL_QUEUE_URLS": f'{{"image_to_video": "{url}"}}',
        "TALLYREEL_WORKFLOW_ARN": arn,
    }


def figures(seen: Consumption) -> dict[str, float]:
    """Compare with the design's budget: name by name, what one task took."""
    sends = sum(count for name, count in seen.requests.items() if name.startswith("sqs "))
    return {
        "write units": seen.units["write units"],
        "read units": seen.units["read units"],
        "invocations": INVOCATIONS,
        "queue requests": sends + RECEIVES,
    }


def seconds_to_delivered() -> float | None:
    """Order a clip on the running local stack; None if there is none."""
    try:
        live = stack.running(Instance.from_environment())
    except LocalTrouble:
        return None
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(sign_in(live, "bench-operator@example.com", groups=("operators",))) as operator,
        closing(sign_in(live, "bench@example.com")) as customer,
    ):
        operator.post(f"/v1/admin/accounts/{customer.account}/credits", {"amount": 8})
        photo = Path(folder, "photo.jpg")
        draw_picture(photo, seed=time.time_ns() % 10_000)
        source = customer.upload(photo, "image/jpeg")
        begun = time.monotonic()
        body = {"kind": "image_to_video", "input": {"source": source, "seconds": 4}}
        path = customer.post("/v1/tasks", body).headers["Location"]
        while not (task := customer.get(path).json())["done"]:
            time.sleep(0.1)
        if task["state"] != "delivered":
            raise LocalTrouble(str(task["error"]))
        return time.monotonic() - begun


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        instance = Instance(folder=Path(folder, "stack"), port=0)
        live = emulator.start(instance, tools.emulator_python(), guardian=os.getpid())
        try:
            seen = consumption(live, Path(folder))
        finally:
            emulator.stop(instance)
    for name, count in sorted(seen.requests.items()):
        print(f"{name:<40} {count:>3}")
    print()
    for name, amount in figures(seen).items():
        print(f"{name:<16} {amount:>5}   budget {BUDGET[name]}")
    taken = seconds_to_delivered()
    print(f"\nPOST to delivered: {f'{taken:.1f} s' if taken else 'no local stack is running'}")


if __name__ == "__main__":
    main()

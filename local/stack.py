"""A running local stack, as whoever uses it sees it."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config

from local import deploy, emulator, tools, worker
from local.instance import REGION, ROOT_KEY, Emulator, Instance
from local.trouble import LocalTrouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """Where things are. `outputs` are both stacks' outputs by name."""

    instance: Instance
    emulator: Emulator
    outputs: Mapping[str, str]

    @property
    def endpoint(self) -> str:
        """Where AWS services answer."""
        return self.emulator.endpoint

    @property
    def api_url(self) -> str:
        """The HTTP API for programs, without a slash at the end."""
        return f"{self.endpoint}/_aws/execute-api/{self._api}/$default"

    @property
    def browser_url(self) -> str:
        """The HTTP API for a browser or curl, which resolve names below `localhost`."""
        return f"http://{self._api}.execute-api.localhost:{self.emulator.port}"

    @property
    def _api(self) -> str:
        return self.outputs["ApiUrl"].removeprefix("https://").partition(".")[0]

    def client(self, service: Any, credentials: Mapping[str, str] | None = None) -> Any:
        """Make a boto3 client with an assumed role's credentials, or as the account's owner."""
        key = credentials or {"AccessKeyId": ROOT_KEY, "SecretAccessKey": ROOT_KEY}
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=key["AccessKeyId"],
            aws_secret_access_key=key["SecretAccessKey"],
            aws_session_token=key.get("SessionToken"),
            config=Config(proxies={}, retries={"mode": "standard"}),
        )


def up(
    instance: Instance,
    *,
    again: bool = False,
    guardian: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Stack:
    """Bring the stack up, doing only what is not done yet. `again` deploys in any case.

    `settings` are the CDK app's, as `-c` would give them.
    """
    told = settings or {}
    wanted = deploy.inputs_hash(told)
    found = emulator.running(instance)
    if found and not again and _deployed(instance) == wanted:
        return _with_worker(_stack(instance, found))
    tools.node()  # what cannot be mended here is said before anything is begun
    if not found:
        emulator.stop(instance)
        emulator.port_for(instance)
    with ThreadPoolExecutor() as beside:
        synthesized = beside.submit(deploy.synth, instance, told)
        cdk = beside.submit(tools.cdk)
        try:
            live = found or emulator.start(instance, tools.emulator_python(), guardian=guardian)
            synthesized.result()
            deploy.deploy(instance, live, cdk.result())
        except BaseException:
            if not found:
                emulator.stop(instance)
            raise
    instance.deployed_file.write_text(wanted, "utf-8")
    worker.stop(instance)  # it still runs the code that was there before
    return _with_worker(_stack(instance, live))


def running_or_up(instance: Instance) -> Stack:
    """Find a stack of any settings, or bring one up."""
    live = emulator.running(instance)
    if live is None or _deployed(instance) is None:
        return up(instance)
    return _stack(instance, live)


def running(instance: Instance) -> Stack:
    """Find the stack that `up` left running."""
    live = emulator.running(instance)
    if live is None or _deployed(instance) is None:
        raise LocalTrouble("No local stack is running: start one with `make up`.")
    return _stack(instance, live)


def _with_worker(live: Stack) -> Stack:
    worker.start(live)
    return live


def _deployed(instance: Instance) -> str | None:
    file = instance.deployed_file
    return file.read_text("utf-8") if file.is_file() else None


def _stack(instance: Instance, live: Emulator) -> Stack:
    outputs: dict[str, str] = {}
    for of_one_stack in json.loads(instance.outputs_file.read_text("utf-8")).values():
        outputs |= of_one_stack
    return Stack(instance=instance, emulator=live, outputs=outputs)

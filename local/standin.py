"""Stand-ins for paid providers on this machine, and a local stack that uses them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from local import stack
from local.instance import ROOT
from local.stack import Stack
from local.trouble import LocalTrouble

_children: list["subprocess.Popen[str]"] = []  # kept, so that none is thought forgotten


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """A fake provider that serves on loopback and counts what it would bill."""

    vendor: str
    kind: str  # of tasks that it is a provider of
    address: str
    options: Mapping[str, Any]
    secrets: Mapping[str, Any]

    def billed(self) -> int:
        """Count the renders or answers that would have cost money."""
        answer = httpx.get(f"{self.address}/_fake/billed", trust_env=False)
        return int(answer.raise_for_status().json()["billed"])

    def script(self, *jobs: Mapping[str, Any]) -> None:
        """Say how the next jobs go; without one, all go well."""
        self._told("script", {"next": list(jobs)})

    def call_back(self, hook_base: str) -> None:
        """Say where hooks are, once that is known."""
        self._told("hook-base", {"url": hook_base})

    def _told(self, what: str, content: Mapping[str, Any]) -> None:
        url = f"{self.address}/_fake/{what}"
        httpx.post(url, json=content, trust_env=False).raise_for_status()

    def settings(self, *before: str) -> dict[str, Any]:
        """Say what the CDK app must be told to use it, after other providers if they are named."""
        return {
            "providers": {self.kind: [*before, self.vendor]},
            "provider_options": {self.vendor: dict(self.options)},
            "test_origins": self.address,
        }


def together(*settings: Mapping[str, Any]) -> dict[str, Any]:
    """Join the settings of several stand-ins for one deployment."""
    whole: dict[str, Any] = {"providers": {}, "provider_options": {}}
    for each in settings:
        for name, joined in whole.items():
            joined.update(each[name])
    return {**whole, "test_origins": ",".join(each["test_origins"] for each in settings)}


@contextmanager
def running(
    vendor: str, clip: Path | None = None, *, hook_base: str = "", seconds: float = 2.0
) -> Iterator[StandIn]:
    """Run a stand-in for as long as the block takes. Only those that render need a clip."""
    flags = ["--seconds", str(seconds), *(["--hook-base", hook_base] if hook_base else [])]
    with _process(vendor, clip, flags) as process:
        try:
            yield _answered(vendor, process)
        finally:
            process.terminate()


def started(
    vendor: str, clip: Path | None = None, *, guardian: int, seconds: float = 1.0
) -> StandIn:
    """Run a stand-in that ends with its guardian. It must be told where hooks are."""
    process = _process(vendor, clip, ["--guardian", str(guardian), "--seconds", str(seconds)])
    _children.append(process)
    return _answered(vendor, process)


def stop_all() -> None:
    """Stop what this process started."""
    while _children:
        with _children.pop() as process:
            process.terminate()


def _process(vendor: str, clip: Path | None, flags: list[str]) -> "subprocess.Popen[str]":
    delivered = ["--clip", str(clip)] if clip else []
    command = [sys.executable, "-m", "local.fakes", vendor, *delivered, *flags]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def _answered(vendor: str, process: "subprocess.Popen[str]") -> StandIn:
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise LocalTrouble(f"The stand-in for {vendor} did not start.")
    return StandIn(**json.loads(line))


def told(live: Stack, standin: StandIn) -> None:
    """Put the stand-in's secrets, if it has any, where the functions look for them."""
    if not standin.secrets:
        return
    name = f"tallyreel/{standin.vendor}"
    with closing(live.client("secretsmanager")) as secrets:
        content = json.dumps(dict(standin.secrets))
        try:
            secrets.create_secret(Name=name, SecretString=content)
        except secrets.exceptions.ResourceExistsException:
            secrets.put_secret_value(SecretId=name, SecretString=content)


def deployed(live: Stack, standin: StandIn) -> Stack:
    """Deploy the running stack once more, with the stand-in as its provider."""
    told(live, standin)
    return stack.up(live.instance, guardian=os.getpid(), settings=standin.settings())

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

START_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """A fake provider that serves on loopback and counts what it would bill."""

    vendor: str
    address: str
    options: Mapping[str, Any]
    secrets: Mapping[str, Any]

    def billed(self) -> int:
        """Count the renders that would have cost money."""
        answer = httpx.get(f"{self.address}/_fake/billed", trust_env=False)
        return int(answer.raise_for_status().json()["billed"])

    def settings(self) -> dict[str, Any]:
        """Say what the CDK app must be told to use it."""
        return {
            "providers": {"image_to_video": [self.vendor]},
            "provider_options": {self.vendor: dict(self.options)},
            "test_origins": self.address,
        }


@contextmanager
def running(vendor: str, clip: Path, *, hook_base: str, seconds: float = 2.0) -> Iterator[StandIn]:
    """Run a stand-in for as long as the block takes."""
    command = [sys.executable, "-m", "local.fakes", vendor, "--clip", str(clip)]
    command += ["--hook-base", hook_base, "--seconds", str(seconds)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                raise LocalTrouble(f"The stand-in for {vendor} did not start.")
            yield StandIn(**json.loads(line))
        finally:
            process.terminate()


def told(live: Stack, standin: StandIn) -> None:
    """Put the stand-in's secrets where the functions look for them."""
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

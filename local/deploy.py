"""Puts the template onto the emulator: the app's own synth, then the real `cdk deploy`."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import boto3

from local.instance import ACCOUNT, REGION, ROOT, ROOT_KEY, Emulator, Instance
from local.trouble import LocalTrouble

# What ends up in the template or in its assets, directly or through what reads it.
INPUTS = ("app.py", "cdk.json", "stacks", "functions", "console")
NOT_INPUTS = {"__pycache__", "node_modules"}
LINES_SHOWN = 25


def inputs_hash(settings: Mapping[str, Any]) -> str:
    """Hash everything that a deploy depends on."""
    digest = hashlib.sha256(sys.version.encode())
    digest.update(json.dumps(settings, sort_keys=True).encode())
    for file in _inputs():
        digest.update(f"{file.relative_to(ROOT)} {file.stat().st_size}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _inputs() -> Iterator[Path]:
    for name in INPUTS:
        path = ROOT / name
        if path.is_file():
            yield path
        else:
            yield from sorted(
                file
                for file in path.rglob("*")
                if file.is_file() and not NOT_INPUTS & set(file.parts)
            )


def synth(instance: Instance, settings: Mapping[str, Any]) -> None:
    """Write the cloud assembly for this machine, with settings of the CDK app."""
    context = json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"] | {"local": True}
    context |= settings
    environment = plain_environment() | {
        "CDK_OUTDIR": str(instance.assembly),
        "CDK_CONTEXT_JSON": json.dumps(context),
    }
    instance.folder.mkdir(parents=True, exist_ok=True)
    _run("synthesize the template", [sys.executable, "app.py"], environment)


def deploy(instance: Instance, emulator: Emulator, cdk: list[str]) -> None:
    """Deploy the assembly to a running emulator."""
    _make_asset_bucket(emulator)
    environment = plain_environment() | {
        "AWS_ENDPOINT_URL": emulator.endpoint,
        "AWS_ACCESS_KEY_ID": ROOT_KEY,
        "AWS_SECRET_ACCESS_KEY": ROOT_KEY,
        "AWS_REGION": REGION,
    }
    flags = ["--all", "--require-approval", "never", "--concurrency", "2", "--ci"]
    flags += ["--no-notices", "--progress", "events", "--app", str(instance.assembly)]
    flags += ["--outputs-file", str(instance.outputs_file)]
    flags += ["--parameters", "ExpressionAlarms=no"]  # the emulator has none
    _run("deploy", [*cdk, "deploy", *flags], environment)


def _make_asset_bucket(emulator: Emulator) -> None:
    # All that the CLI-credentials synthesizer needs of a bootstrapped account; a whole
    # `cdk bootstrap` takes longer than the deploy itself.
    s3 = boto3.client(
        "s3",
        endpoint_url=emulator.endpoint,
        region_name=REGION,
        aws_access_key_id=ROOT_KEY,
        aws_secret_access_key=ROOT_KEY,
    )
    s3.create_bucket(Bucket=f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}")


def plain_environment() -> dict[str, str]:
    """Keep this shell's AWS settings out: nothing here may ever reach a real account."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return kept | {
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "NO_PROXY": "127.0.0.1,localhost",
        # CDK works on every Node that `tools.node` lets through, but says so at length.
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": ",".join(map(str, range(20, 40))),
        "NODE_NO_WARNINGS": "1",
    }


def _run(purpose: str, command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        said = "\n".join(done.stdout.splitlines()[-LINES_SHOWN:])
        raise LocalTrouble(f"Could not {purpose}:\n{said}")

"""The templates as AWS would get them, written once for all tests here."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from local.deploy import plain_environment
from local.instance import ROOT
from tests.workers import shared_folder

Resources = dict[str, dict[str, Any]]


class Assembly:
    """A cloud assembly on disk, with what the app said while it wrote it."""

    def __init__(self, folder: Path, said: str) -> None:
        self.folder = folder
        self.said = said
        self.template_files = sorted(folder.glob("*.template.json"))
        self.templates = {
            file.name.removesuffix(".template.json"): json.loads(file.read_text("utf-8"))
            for file in self.template_files
        }

    def resources(self, of_type: str) -> Resources:
        return {
            logical_id: resource
            for template in self.templates.values()
            for logical_id, resource in template["Resources"].items()
            if resource["Type"] == of_type
        }


def synthesize(folder: Path, **context: Any) -> Assembly:
    """Run the app as the CDK CLI does, in a process without any AWS setting."""
    settings = json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"]
    environment = plain_environment() | {
        "CDK_OUTDIR": str(folder),
        "CDK_CONTEXT_JSON": json.dumps(settings | context),
    }
    assert "AWS_REGION" not in environment
    said = folder / "said"
    if not said.exists():
        done = subprocess.run(
            [sys.executable, "app.py"],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"cdk-nag or the app refused:\n{done.stdout}{done.stderr}"
        said.write_text(done.stdout + done.stderr, "utf-8")
    return Assembly(folder, said.read_text("utf-8"))


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    with shared_folder(tmp_path_factory, "aws") as folder:
        return synthesize(folder)


@pytest.fixture(scope="session")
def local_assembly(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    with shared_folder(tmp_path_factory, "local") as folder:
        return synthesize(folder, local=True)

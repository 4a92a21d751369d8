"""Both assemblies are clean, and differ only where they say."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from local.instance import ROOT
from tests.stacks.conftest import Assembly

AARCH64_ELF = b"\xb7\x00"  # e_machine


def test_cdk_nag_finds_nothing_that_is_not_acknowledged(assembly: Assembly) -> None:
    assert "ERROR" not in assembly.said
    assert "WARNING" not in assembly.said


def test_cfn_lint_finds_nothing(assembly: Assembly) -> None:
    program = Path(sys.executable).with_name("cfn-lint")
    command = [str(each) for each in (program, "--", *assembly.template_files)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def _without_assets(template: dict[str, Any]) -> str:
    text = json.dumps(template, sort_keys=True)
    return re.sub(r"[0-9a-f]{64}", "ASSET", text)


def test_a_local_deployment_gets_the_template_that_aws_gets(
    assembly: Assembly, local_assembly: Assembly
) -> None:
    assert set(assembly.templates) - set(local_assembly.templates) == {"TallyreelWorker"}
    for name in local_assembly.templates:
        template = assembly.templates[name]
        wanted = json.loads(_without_assets(template))
        # The bootstrap version that the default synthesizer asks for, and its CLI one does not.
        wanted.pop("Rules")
        wanted["Parameters"].pop("BootstrapVersion")
        wanted["Resources"] = _without_layer_hashes(wanted["Resources"])
        got = json.loads(_without_assets(local_assembly.templates[name]))
        got["Resources"] = _without_layer_hashes(got["Resources"])
        assert got.get("Parameters", {}) == wanted.pop("Parameters")
        got.pop("Parameters", None)
        assert _without_console_origin(got) == _without_console_origin(wanted)


def _without_console_origin(template: dict[str, Any]) -> dict[str, Any]:
    """Leave out where the console is served from: another host here than on AWS."""
    for resource in template["Resources"].values():
        for rule in resource["Properties"].get("CorsConfiguration", {}).get("CorsRules", []):
            assert len(rule.pop("AllowedOrigins")) == 1
    return template


def _without_layer_hashes(resources: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(resources)
    return dict(
        json.loads(re.sub(r"(runtimelayer|medialayer)[0-9A-F]{8}[0-9a-f]{10}", r"\1", text))
    )


def _assets(assembly: Assembly) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for file in assembly.folder.glob("*.assets.json"):
        for asset in json.loads(file.read_text("utf-8"))["files"].values():
            found[asset["displayName"]] = assembly.folder / asset["source"]["path"]
    return found


def test_layers_for_aws_hold_arm64_code_and_the_pinned_packages(assembly: Assembly) -> None:
    layers = {name: path for name, path in _assets(assembly).items() if "layer" in name}
    assert sorted(layers) == ["media-layer/Code", "runtime-layer/Code"]
    for path in layers.values():
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                assert name.startswith("python/")
                assert "__pycache__" not in name
                if name.endswith(".so"):
                    assert archive.read(name)[18:20] == AARCH64_ELF, name


def test_the_code_asset_holds_the_package_and_the_console_only(assembly: Assembly) -> None:
    (code,) = (path for name, path in _assets(assembly).items() if "Function" in name)
    assert {entry.name for entry in code.iterdir()} == {"functions", "console"}
    assert not list(code.rglob("*.pyc"))
    assert not list(code.rglob("requirements*"))

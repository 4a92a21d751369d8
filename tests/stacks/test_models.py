"""A deployment that asks models: only its worker may, and only those."""

from typing import Any

import pytest

from functions.providers.bedrock import PROVIDER as BEDROCK
from stacks.config import Config
from stacks.remote import routes
from tests.stacks.conftest import Assembly, synthesize
from tests.stacks.test_permissions import _list, _statements, _text
from tests.workers import shared_folder

USED = {
    "image_to_video": ["motion", "fal"],
    "video_analysis": ["local", "gemini", "bedrock"],
}

HEARD = {"bedrock": {"listener": "transcribe"}}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    with shared_folder(tmp_path_factory, "models") as folder:
        return synthesize(folder, providers=USED, provider_options=HEARD)


def granted(assembly: Assembly, action: str) -> dict[str, list[str]]:
    """Who may do something, and to what."""
    found: dict[str, list[str]] = {}
    for name, statement in _statements(assembly):
        if action in _list(statement["Action"]):
            found.setdefault(name, []).extend(map(_text, _list(statement["Resource"])))
    return found


def test_only_the_worker_reads_the_key_of_a_model(models: Assembly) -> None:
    readers = granted(models, "secretsmanager:GetSecretValue")
    for name, secrets in readers.items():
        wanted = "gemini" if name.startswith("WorkerRole") else "fal"
        assert len(secrets) == 1
        assert f":secret:tallyreel/{wanted}-??????" in secrets[0]
    assert any(name.startswith("WorkerRole") for name in readers)


def test_only_the_worker_asks_on_bedrock_and_only_that_model(models: Assembly) -> None:
    ((name, resources),) = granted(models, "bedrock:InvokeModel").items()
    base = BEDROCK.model.partition(".")[2]

    assert name.startswith("WorkerRole")
    assert [each.rpartition("/")[2] for each in resources] == [BEDROCK.model, base]
    assert "inference-profile" in resources[0]


def test_the_worker_is_told_of_its_models_wherever_it_runs(models: Assembly) -> None:
    (definition,) = models.resources("AWS::ECS::TaskDefinition").values()
    (container,) = definition["Properties"]["ContainerDefinitions"]
    told = {each["Name"]: each["Value"] for each in container["Environment"]}

    assert told["TALLYREEL_SECRETS"] == '{"gemini": "tallyreel/gemini"}'


def test_only_the_worker_has_what_is_said_written_down(models: Assembly) -> None:
    ((name, resources),) = granted(models, "transcribe:StartTranscriptionJob").items()

    assert name.startswith("WorkerRole")
    assert resources == ["*"]


def test_without_a_model_nothing_of_one_is_granted(assembly: Assembly) -> None:
    assert granted(assembly, "bedrock:InvokeModel") == {}
    assert granted(assembly, "transcribe:StartTranscriptionJob") == {}
    assert granted(assembly, "secretsmanager:GetSecretValue") == {}


@pytest.mark.parametrize(
    "mixed",
    [{"image_to_video": ["gemini"]}, {"video_analysis": ["fal"]}, {"video_analysis": ["x"]}],
)
def test_a_provider_of_something_else_is_refused(mixed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="providers of"):
        routes(Config(providers=mixed))

"""What a deployment says of remote providers, as its functions are told."""

import json
from collections.abc import Iterable, Mapping

from aws_cdk import ArnFormat, Stack
from constructs import Construct

from functions import kinds, providers
from functions.domain.kinds import Kind
from functions.domain.models import Listener, Model
from functions.domain.providers import BuiltIn, Called, Provider, Remote, configured
from stacks.config import Config
from stacks.function import PipelineFunction

SUBMIT_LANE, CHECK_LANE = "submit", "check"


def routes(config: Config) -> dict[str, str]:
    """Say who renders each kind, in order, and in which queue its work waits."""
    known = providers.load()
    told = {}
    for kind in kinds.load().values():
        names = config.providers.get(kind.name) or list(kind.providers)
        unknown = sorted(set(names) - set(known))
        if unknown:
            raise ValueError(f"providers of {kind.name}: there is no {', '.join(unknown)}")
        misplaced = [name for name in names if not _fits(kind, known[name])]
        if misplaced:
            raise ValueError(f"providers of {kind.name}: not {', '.join(misplaced)}")
        told[kind.name] = [
            {
                "provider": name,
                "lane": SUBMIT_LANE if isinstance(known[name], Remote) else kind.name,
            }
            for name in names
        ]
    settings = {"TALLYREEL_ROUTES": json.dumps(told)}
    if config.unit_prices:
        settings["TALLYREEL_UNIT_PRICES"] = json.dumps(config.unit_prices)
    return settings


def _fits(kind: Kind, provider: Provider) -> bool:
    """Whether a provider does this kind's work: renders are ordered, and models are asked."""
    wanted = (BuiltIn, Remote) if kind.asking is None else (BuiltIn, Model)
    return isinstance(provider, wanted)


def options(config: Config) -> dict[str, str]:
    """Say how providers are reached, where that is not the default."""
    settings: dict[str, str] = {}
    if config.provider_options:
        settings["TALLYREEL_PROVIDER_OPTIONS"] = json.dumps(config.provider_options)
    if config.test_origins:
        settings["TALLYREEL_TEST_ORIGINS"] = ",".join(config.test_origins)
    return settings


def secrets(stage: PipelineFunction, config: Config) -> dict[str, str]:
    """Let a stage read the secrets of the remote providers in use, and tell it their names."""
    names = secret_names(config, [each for each in in_use(config) if isinstance(each, Remote)])
    for arn in secret_arns(stage, names):
        stage.allow(["secretsmanager:GetSecretValue"], arn)
    return {"TALLYREEL_SECRETS": json.dumps(names)} if names else {}


def models(config: Config) -> list[Model]:
    """List the models in use."""
    return [each for each in in_use(config) if isinstance(each, Model)]


def listeners(config: Config) -> list[Listener]:
    """List who writes down what is said for the models in use."""
    known = providers.load()
    found = [known[each.listener] for each in models(config) if each.listener]
    return [each for each in found if isinstance(each, Listener)]


def in_use(config: Config) -> list[Called]:
    """List who is called for some kind, as configured, by name."""
    known = providers.load()
    used = {name for names in config.providers.values() for name in names}
    found = [known[name] for name in sorted(used)]
    return [
        configured(each, config.provider_options.get(each.name, {}))
        for each in found
        if isinstance(each, Called)
    ]


def secret_names(config: Config, called: Iterable[Called]) -> dict[str, str]:
    """Name the secrets of those that need any."""
    return {each.name: f"{config.secrets_below}/{each.name}" for each in called if each.secrets}


def secret_arns(scope: Construct, names: Mapping[str, str]) -> list[str]:
    """Name secrets as policies do: Secrets Manager appends six characters to a name."""
    return [
        Stack.of(scope).format_arn(
            service="secretsmanager",
            resource="secret",
            resource_name=f"{name}-??????",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        for name in names.values()
    ]

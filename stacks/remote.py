"""What a deployment says of remote providers, as its functions are told."""

import json

from aws_cdk import ArnFormat, Stack

from functions import kinds, providers
from functions.domain.providers import Remote
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


def options(config: Config) -> dict[str, str]:
    """Say how providers are reached, where that is not the default."""
    settings: dict[str, str] = {}
    if config.provider_options:
        settings["TALLYREEL_PROVIDER_OPTIONS"] = json.dumps(config.provider_options)
    if config.test_origins:
        settings["TALLYREEL_TEST_ORIGINS"] = ",".join(config.test_origins)
    return settings


def secrets(stage: PipelineFunction, config: Config) -> dict[str, str]:
    """Let a stage read the secrets of the providers in use, and tell it their names."""
    names = _secret_names(config)
    for name in names.values():
        # Secrets Manager appends six characters to a name.
        stage.allow(
            ["secretsmanager:GetSecretValue"],
            Stack.of(stage).format_arn(
                service="secretsmanager",
                resource="secret",
                resource_name=f"{name}-??????",
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            ),
        )
    return {"TALLYREEL_SECRETS": json.dumps(names)} if names else {}


def _secret_names(config: Config) -> dict[str, str]:
    known = providers.load()
    used = {name for names in config.providers.values() for name in names}
    return {
        name: f"{config.secrets_below}/{name}"
        for name in sorted(used)
        if isinstance(known[name], Remote)
    }

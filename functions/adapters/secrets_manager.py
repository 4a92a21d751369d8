"""Providers' secrets from Secrets Manager, kept for some minutes."""

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from functions.adapters.aws_errors import translating
from functions.domain.providers import Secrets

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

KEEP_SECONDS = 300.0


class SecretsManager:
    """Reads one secret per provider: a JSON object of name to value, or to values newest first."""

    def __init__(self, client: "SecretsManagerClient", names: Mapping[str, str]) -> None:
        self._client = client
        self._names = names
        self._kept: dict[str, tuple[float, Secrets]] = {}

    def __call__(self, provider: str) -> Secrets:
        """Read a provider's secrets; one that has none in this deployment gets none."""
        until, kept = self._kept.get(provider, (0.0, None))
        if kept is not None and time.monotonic() < until:
            return kept
        read = self._read(provider)
        self._kept[provider] = (time.monotonic() + KEEP_SECONDS, read)
        return read

    def _read(self, provider: str) -> Secrets:
        if provider not in self._names:
            return Secrets(values={})
        with translating():
            found = self._client.get_secret_value(SecretId=self._names[provider])
        raw: dict[str, str | list[str]] = json.loads(found["SecretString"])
        return Secrets(
            values={
                name: (value,) if isinstance(value, str) else tuple(value)
                for name, value in raw.items()
            }
        )

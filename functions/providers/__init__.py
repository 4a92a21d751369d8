"""Providers of renders and models: one file each, found by looking."""

from functions.domain.discovery import declared
from functions.domain.providers import BuiltIn, Called, Provider


def load() -> dict[str, Provider]:
    """Find every `PROVIDER` in this folder, by name. Two of one name are refused."""
    return declared(__name__, "PROVIDER", (BuiltIn, Called))

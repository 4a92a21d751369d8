"""Kinds of tasks: one file each, found by looking."""

from functions.domain.discovery import declared
from functions.domain.kinds import Kind


def load() -> dict[str, Kind]:
    """Find every `KIND` in this folder, by name. Two of one name are refused."""
    return declared(__name__, "KIND", Kind)

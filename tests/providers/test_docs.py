from pathlib import Path

from tests.providers.ability_table import table
from tests.providers.stage import REMOTES

DOCS = Path(__file__).parents[2] / "docs" / "providers.md"


def test_the_table_says_what_the_data_says() -> None:
    assert table() in DOCS.read_text("utf-8")


def test_every_provider_has_its_paragraph() -> None:
    text = DOCS.read_text("utf-8")

    assert [name for name in REMOTES if f"**{name}**" not in text] == []

"""What docs/settings.md says of the settings is what the class says."""

from __future__ import annotations

import pytest

from coderunner.settings import Settings, spec_file, spec_language
from coderunner.settings.keys import all_keys, dotted, type_at
from scripts.settings_table import DOCUMENT, TABLE, table

pytestmark = pytest.mark.unit


def test_the_table_is_that_of_the_class() -> None:
    """After a change: `python scripts/settings_table.py` writes it anew."""
    found = TABLE.search(DOCUMENT.read_text(encoding="utf-8"))
    assert found is not None
    assert found[0] == table()
    assert all(" |  |" not in line for line in table().splitlines()), "each needs a description"


def test_the_specified_keys_are_all_told() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for key in (*spec_file.KEYS, *spec_file.ALWAYS):
        assert f"`{dotted(key)}`" in text
    for name in spec_language.OF_A_LANGUAGE:
        assert f"`languages.NAME.{name}`" in text


def test_they_mean_settings_that_there_are() -> None:
    assert all(type_at(Settings, key) is not None for key in spec_file.KEYS.values())
    assert len(list(all_keys(Settings))) > 60

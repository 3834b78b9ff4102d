"""What holds, and why: every setting with its value and where that comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from coderunner.errors import InvalidInput
from coderunner.settings.keys import Key, all_keys, dotted, is_table, meant, type_at
from coderunner.settings.layers import Layer, read_layers
from coderunner.settings.settings import Settings

DEFAULT = "default"
_MASKED = "********"


@dataclass(frozen=True, slots=True)
class Effective:
    key: str
    value: Any  # as JSON would have it; secrets are masked
    origin: str


def effective(section: str = "") -> list[Effective]:
    """All settings, or those of a section, or a single one."""
    settings, layers = Settings(), read_layers(Settings)
    found = [
        Effective(dotted(key), _plain(value), _origin(key, layers))
        for key, value in _values(settings)
    ]
    wanted = [each for each in found if f"{each.key}.".startswith(f"{section}." if section else "")]
    if not wanted:
        key = tuple(section.split("."))
        hint = "" if type_at(Settings, key) else meant(Settings, key)
        raise InvalidInput(f"no setting is called {section}", hint=hint)
    return wanted


def _values(settings: Settings) -> Iterator[tuple[Key, Any]]:
    """A table's entries come one by one: each may come from somewhere else."""
    for key in all_keys(Settings):
        value: Any = settings
        for name in key:
            value = getattr(value, name)
        if is_table(type_at(Settings, key)) and value:
            yield from (((*key, name), entry) for name, entry in value.items())
        else:
            yield key, value


def _origin(key: Key, layers: list[Layer]) -> str:
    return next((layer.place(key) for layer in layers if layer.says(key)), DEFAULT)


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return _MASKED
    if isinstance(value, Enum | Path):
        return str(value)
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value

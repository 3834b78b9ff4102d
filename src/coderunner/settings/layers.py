"""The places that settings come from, below what a caller passes: the strongest first.

environment               CODERUNNER_DOCKER__RUNTIME=runsc
coderunner.toml           of the user, or the file that CODERUNNER_CONFIG names
coderunner_config.yaml    beside it: the same, by the keys that the judge's specification has
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from coderunner.settings.keys import Key


@dataclass(frozen=True)
class Layer:
    """What one place says. Of a key that it has, `place` tells where exactly that stands, and
    `called` how to begin a sentence about it."""

    values: Mapping[str, Any]
    place: Callable[[Key], str]
    called: Callable[[Key], str]

    def says(self, key: Key) -> bool:
        value: object = self.values
        for name in key:
            if not isinstance(value, Mapping) or name not in value:
                return False
            value = value[name]
        return True


def read_layers(kind: type[BaseSettings]) -> list[Layer]:
    """All of them. `InvalidSettings` for keys that there are not."""
    from coderunner.settings import environment, files

    return [environment.read(kind), *files.read(kind)]


class LayerSource(PydanticBaseSettingsSource):
    """A layer, as pydantic wants it."""

    def __init__(self, kind: type[BaseSettings], layer: Layer) -> None:
        super().__init__(kind)
        self._layer = layer

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._layer.values.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return dict(self._layer.values)


def at_line(path: Path, lines: Mapping[Key, int], key: Key) -> str:
    """The file, and the line of the key, or of what it is in."""
    for length in range(len(key), 0, -1):
        if line := lines.get(key[:length]):
            return f"{path}:{line}"
    return str(path)

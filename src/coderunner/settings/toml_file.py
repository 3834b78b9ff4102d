"""coderunner.toml: keys as the class has them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from coderunner.errors import InvalidSettings
from coderunner.settings.keys import Key, dotted
from coderunner.settings.layers import Layer, at_line

_HEADING = re.compile(r"\s*\[([^\[\]]+)\]\s*(#.*)?")
_ASSIGNMENT = re.compile(r"\s*([\w.\"' -]+?)\s*=")


def read(path: Path, text: str) -> Layer:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(f"{path}: is not valid TOML: {error}") from None

    def place(key: Key) -> str:
        return at_line(path, _lines(text), key)

    return Layer(values, place, lambda key: f"{place(key)}: {dotted(key)}")


def _lines(text: str) -> dict[Key, int]:
    """Where each key stands, as far as a look at each line by itself can tell."""
    found: dict[Key, int] = {}
    heading: Key = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _HEADING.fullmatch(line):
            heading = _parts(match[1])
            found.setdefault(heading, number)
        elif match := _ASSIGNMENT.match(line):
            found.setdefault((*heading, *_parts(match[1])), number)
    return found


def _parts(dotted: str) -> Key:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))

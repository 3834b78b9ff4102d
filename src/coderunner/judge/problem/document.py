"""YAML and JSON, read key by key, with complaints by file and key."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from coderunner.errors import InvalidInput
from coderunner.judge.problem.folder import Folder
from coderunner.model import MIB

_LONGEST_YAML = 1 * MIB
_LONGEST_JSON = 64 * MIB
_MOST = 10**9


class _WithExponents(yaml.SafeLoader):
    """To PyYAML 1e-6 is text, as YAML 1.1 has it. To people it is a number."""


_WithExponents.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)


def read_yaml(folder: Folder, path: Path) -> Section:
    """A YAML file that is a map of keys, or has nothing in it. What is text stays as it is
    written: 1e-6 may be an argument of somebody's program."""
    value = _read(folder, path, yaml.SafeLoader)
    return Section({} if value is None else value, folder.name(path))


def read_data(folder: Folder, path: Path) -> object:
    """What is written in a file: JSON if it is called so, else YAML."""
    return _read(folder, path, _WithExponents)


def _read(folder: Folder, path: Path, loader: type[yaml.SafeLoader]) -> object:
    is_json = path.suffix.lower() == ".json"
    text = folder.text(path, _LONGEST_JSON if is_json else _LONGEST_YAML)
    try:
        return json.loads(text, parse_constant=_no_number) if is_json else _yaml(text, loader)
    except yaml.YAMLError as error:
        raise folder.error(path, f"is no YAML: {_in_words(error)}") from None
    except RecursionError:
        raise folder.error(path, "is nested too deeply") from None
    except ValueError as error:  # a date in the 13th month, a number of 5000 digits
        raise folder.error(path, f"is no {'JSON' if is_json else 'YAML'}: {error}") from None


def _yaml(text: str, loader: type[yaml.SafeLoader]) -> object:
    """Aliases are refused: a few lines of them can stand for more than fits into memory."""
    if "&" in text and "*" in text:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                raise ValueError(f"aliases are not supported, as *{event.anchor}")
    return yaml.load(text, Loader=loader)  # noqa: S506  # both are safe ones


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number")


def _in_words(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or "it cannot be read"
    return f"{what} (line {mark.line + 1})" if mark else what


class Section:
    """A map in a file. An empty value is as good as none."""

    def __init__(self, values: object, origin: str, prefix: str = "") -> None:
        self.origin = origin
        self._prefix = prefix
        if not isinstance(values, dict):
            raise self.error("", f"must be a map of keys and values, not {_kind(values)}")
        self._values = {_text(key) or "?": value for key, value in values.items()}

    def error(self, key: str, what: str, *, hint: str = "") -> InvalidInput:
        where = ".".join(part for part in (self._prefix, key) if part)
        return InvalidInput(
            ": ".join(part for part in (self.origin, where, what) if part), hint=hint
        )

    def __contains__(self, key: str) -> bool:
        return self._values.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def get(self, key: str) -> object:
        return self._values.get(key)

    def section(self, key: str) -> Section:
        value = self._values.get(key)
        prefix = f"{self._prefix}.{key}" if self._prefix else key
        return Section({} if value is None else value, self.origin, prefix)

    def text(self, key: str, default: str = "") -> str:
        value = self._values.get(key)
        text = default if value is None else _text(value)
        if text is None:
            raise self.error(key, f"must be text, not {_kind(value)}")
        return text

    def words(self, key: str) -> tuple[str, ...]:
        """A list of words, or text with space between them."""
        value = self._values.get(key)
        if not isinstance(value, list):
            return tuple(self.text(key).split())
        words = tuple(word for word in map(_text, value) if word is not None)
        if len(words) < len(value):
            raise self.error(key, "must be a list of strings")
        return words

    def number(
        self,
        key: str,
        *,
        least: float = -_MOST,
        above: float = -math.inf,
        most: float = _MOST,
    ) -> float | None:
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, str):  # to YAML 1e3 is text
            value = _number(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(key, f"must be a number, not {_kind(self._values[key])}")
        if not least <= value <= most or not value > above:
            bound = f"above {above:g}" if above > -math.inf else f"at least {least:g}"
            raise self.error(key, f"must be {bound} and at most {most:g}")
        return float(value)

    def flag(self, key: str) -> bool | None:
        value = self._values.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.error(key, f"must be true or false, not {_kind(value)}")
        return value

    def no_misspelt(self, known: Iterable[str]) -> None:
        """What is not known is for others; but not if it is nearly what is."""
        known = tuple(known)
        for key in self._values:
            near = () if key in known else difflib.get_close_matches(key, known, 1, 0.85)
            if near:
                raise self.error(key, "is not a known key", hint=f"did you mean {near[0]!r}?")


def _text(value: object) -> str | None:
    """What was meant as text, though it looks like a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return value if isinstance(value, str) else f"{value}" if abs(value) <= _MOST else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _kind(value: object) -> str:
    if isinstance(value, str):
        return repr(value) if len(value) <= 40 else "text"
    kinds = {bool: "true or false", int: "a number", float: "a number", list: "a list"}
    return kinds.get(type(value), "a map" if isinstance(value, dict) else type(value).__name__)

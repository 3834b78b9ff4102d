"""A TOML table that is read key by key, and complains by file and field."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

from coderunner.errors import InvalidLanguageFile

_LAST_CODE = 255


class Table:
    """One table of a language file. Each getter takes a key once; `nothing_else` then finds the
    keys that nobody asked for, which are most likely misspelt."""

    def __init__(self, values: Mapping[str, object], origin: str, prefix: str = "") -> None:
        self._values = values
        self._asked: set[str] = set()
        self._prefix = prefix
        self.origin = origin

    def error(self, key: str, what: str, *, hint: str = "") -> InvalidLanguageFile:
        """An error that names the file and the field."""
        return InvalidLanguageFile(f"{self.origin}: {self._path(key)}: {what}", hint=hint)

    def nothing_else(self) -> None:
        for key in self._values:
            if key not in self._asked:
                near = difflib.get_close_matches(key, self._asked, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {self._known()}"
                raise self.error(key, "is not a known key", hint=hint)

    def text(
        self, key: str, *, default: str | None = None, pattern: re.Pattern[str] | None = None
    ) -> str:
        value = self._take(key, default)
        if not isinstance(value, str):
            raise self.error(key, f"must be a string, not {_kind(value)}")
        self._fits(key, value, pattern, required=default is None)
        return value

    def words(
        self,
        key: str,
        *,
        default: tuple[str, ...] | None = None,
        pattern: re.Pattern[str] | None = None,
    ) -> tuple[str, ...]:
        value = self._take(key, default)
        if isinstance(value, tuple):
            return value
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self.error(key, f"must be a list of strings, not {_kind(value)}")
        if not value and default is None:
            raise self.error(key, "must not be empty")
        for word in value:
            self._fits(key, word, pattern, required=pattern is not None)
        return tuple(value)

    def texts(self, key: str) -> dict[str, str]:
        """A table of strings; an absent one is empty."""
        sub = self.table(key)
        return {name: sub.text(name, default="") for name in sub._values} if sub else {}

    def number(self, key: str) -> int | float | None:
        value = self._take(key, "")
        if value == "":
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(key, f"must be a number, not {_kind(value)}")
        return value

    def codes(self, key: str) -> tuple[int, ...]:
        """A list of exit codes; an absent one is empty."""
        value = self._take(key, [])
        if not isinstance(value, list) or not all(type(code) is int for code in value):
            raise self.error(key, "must be a list of whole numbers")
        if not all(0 <= code <= _LAST_CODE for code in value):
            raise self.error(key, f"exit codes are from 0 to {_LAST_CODE}")
        return tuple(value)

    def flag(self, key: str) -> bool:
        """True or false; an absent one is false."""
        value = self._take(key, False)
        if not isinstance(value, bool):
            raise self.error(key, f"must be true or false, not {_kind(value)}")
        return value

    def table(self, key: str) -> Table | None:
        value = self._take(key, "")
        if value == "":
            return None
        if not isinstance(value, dict):
            raise self.error(key, f"must be a table, not {_kind(value)}")
        return Table(value, self.origin, self._path(key))

    def tables(self, key: str) -> Iterator[tuple[str, Table]]:
        """The tables of a table, by name, in the order of the file."""
        outer = self.table(key)
        for name in outer._values if outer else ():
            assert outer is not None
            inner = outer.table(name)
            assert inner is not None
            yield name, inner

    def array(self, key: str) -> Iterator[Table]:
        value = self._take(key, ())
        if not isinstance(value, list | tuple) or not all(isinstance(v, dict) for v in value):
            raise self.error(key, f"must be written as [[{key}]]")
        for i, item in enumerate(value):
            yield Table(item, self.origin, self._path(f"{key}.{i}"))

    def regex(self, key: str) -> re.Pattern[str] | None:
        text = self.text(key, default="")
        return self._compiled(key, text) if text else None

    def required_regex(self, key: str, *, group: str = "") -> re.Pattern[str]:
        found = self._compiled(key, self.text(key))
        if group and group not in found.groupindex:
            raise self.error(key, f"needs a group named {group!r}, written (?P<{group}>…)")
        return found

    def regexes(self, key: str) -> tuple[re.Pattern[str], ...]:
        return tuple(self._compiled(key, text) for text in self.words(key, default=()))

    def _compiled(self, key: str, text: str) -> re.Pattern[str]:
        try:
            return re.compile(text)
        except re.error as error:
            raise self.error(key, f"is not a valid regular expression: {error}") from error

    def _take(self, key: str, default: object) -> object:
        self._asked.add(key)
        if key in self._values:
            return self._values[key]
        if default is None:
            raise self.error(key, "is missing")
        return default

    def _fits(self, key: str, value: str, pattern: re.Pattern[str] | None, required: bool) -> None:
        if required and not value:
            raise self.error(key, "must not be empty")
        if "\0" in value:
            raise self.error(key, "must not contain NUL")
        if value and pattern and not pattern.fullmatch(value):
            raise self.error(key, f"{value!r} does not match {pattern.pattern}")

    def _path(self, key: str) -> str:
        return ".".join(part for part in (self._prefix, key) if part)

    def _known(self) -> str:
        return ", ".join(sorted(self._asked))


def _kind(value: object) -> str:
    kinds = {bool: "a boolean", str: "a string", int: "a number", float: "a number"}
    return kinds.get(type(value), "a list" if isinstance(value, list) else "a table")

"""coderunner_config.yaml: the same settings, by the keys of the judge's specification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from coderunner.errors import InvalidSettings
from coderunner.settings.keys import Key, dotted, put
from coderunner.settings.layers import Layer, at_line
from coderunner.settings.spec_language import OF_A_LANGUAGE

KEYS: dict[Key, Key] = {
    ("docker", "default_image_prefix"): ("docker", "default_image_prefix"),
    ("docker", "pull_policy"): ("docker", "pull_policy"),
    ("limits", "memory_mb"): ("judge", "memory_limit_mb"),
    ("limits", "cpu_cores"): ("judge", "cpu_limit"),
    ("limits", "per_test_timeout_ms"): ("judge", "timeout_ms"),
    ("limits", "total_timeout_ms"): ("judge", "total_timeout_ms"),
    ("limits", "max_output_size_kb"): ("judge", "keep_output_kb"),
    ("limits", "max_processes"): ("judge", "processes"),
}

ALWAYS: tuple[Key, ...] = (  # true, whatever anybody says
    ("security", "network_disabled"),
    ("security", "read_only_root"),
    ("security", "no_new_privileges"),
    ("security", "cap_drop_all"),
)

_DEEPEST = 20
_SECTIONS = ("docker", "limits", "languages", "security")
_THERE_ARE = f"there are {', '.join(_SECTIONS)}; docs/settings.md has their keys"


def read(path: Path, text: str) -> Layer:
    return _Reading(path, text).layer()


class _Reading:
    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text
        self._lines: dict[Key, int] = {}  # by the file's own keys
        self._from: dict[Key, Key] = {}  # where a setting stands in the file

    def layer(self) -> Layer:
        values: dict[str, Any] = {}
        for key, value in self._leaves(self._document()):
            for setting, translated in self._settings(key, value):
                put(values, setting, translated)
                self._from[setting] = key
        return Layer(
            values,
            lambda setting: self._place(self._said(setting)),
            lambda setting: self._called(self._said(setting)),
        )

    def _document(self) -> Any:
        try:
            node = yaml.compose(self._text, Loader=yaml.SafeLoader)
            document = yaml.safe_load(self._text)
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            what = " ".join(str(error).split())
            raise InvalidSettings(f"{self._path}: is not valid YAML: {what:.200}") from None
        self._remember_lines(node, ())
        return {} if document is None else document  # nothing but comments

    def _leaves(self, table: Any, above: Key = ()) -> Iterator[tuple[Key, object]]:
        """Each value with its key. A section without a word in it says nothing."""
        if table is None:
            return
        if not isinstance(table, dict):
            raise self._error(above, f"must be a table, not {table!r:.80}")
        for name, value in table.items():
            key = (*above, str(name))
            if key[0] not in _SECTIONS:
                raise self._unknown(key, _SECTIONS)
            if len(key) < (3 if key[0] == "languages" else 2):
                yield from self._leaves(value, key)
            else:
                yield key, value

    def _remember_lines(self, node: yaml.Node | None, above: Key) -> None:
        if not isinstance(node, yaml.MappingNode) or len(above) > _DEEPEST:
            return
        for name, value in node.value:
            key = (*above, str(name.value))
            again = key in self._lines
            self._lines[key] = name.start_mark.line + 1
            if again:
                raise self._error(key, "is there twice")
            self._remember_lines(value, key)

    def _settings(self, key: Key, value: object) -> Iterator[tuple[Key, object]]:
        """What one key of the file means."""
        if key in KEYS:
            yield KEYS[key], value
        elif key in ALWAYS:
            if value is not True:
                hint = "leave it out; there is no way to turn it off"
                raise self._error(key, f"is always true, it cannot be {value!r:.80}", hint)
        elif key[0] != "languages":
            beside = (known for known in (*KEYS, *ALWAYS) if known[0] == key[0])
            raise self._unknown(key, [known[1] for known in beside])
        elif key[2] in OF_A_LANGUAGE:
            yield from self._of_a_language(OF_A_LANGUAGE[key[2]], key, value)
        else:
            raise self._unknown(key, OF_A_LANGUAGE)

    def _of_a_language(
        self,
        meaning: Callable[[str, object], dict[Key, object]],
        key: Key,
        value: object,
    ) -> Iterator[tuple[Key, object]]:
        try:
            yield from meaning(key[1], value).items()
        except InvalidSettings as error:
            raise self._error(key, error.message, error.hint) from None

    def _unknown(self, key: Key, beside: Iterable[str]) -> InvalidSettings:
        near = get_close_matches(key[-1], beside, n=1)
        hint = f"did you mean {dotted((*key[:-1], *near))}?" if near else _THERE_ARE
        place = self._place(key)
        return InvalidSettings(f"{place}: no setting is called {dotted(key)}", hint=hint)

    def _error(self, key: Key, what: str, hint: str = "") -> InvalidSettings:
        return InvalidSettings(f"{self._called(key)}: {what}", hint=hint)

    def _place(self, key: Key) -> str:
        return at_line(self._path, self._lines, key)

    def _called(self, key: Key) -> str:
        return ": ".join(part for part in (self._place(key), dotted(key)) if part)

    def _said(self, setting: Key) -> Key:
        """The file's own key for a setting, or for what the setting is in or has in it."""
        inside = [key for to, key in self._from.items() if to[: len(setting)] == setting]
        above = [key for to, key in self._from.items() if setting[: len(to)] == to]
        return (*inside, *above, ())[0]

"""What the registry of languages says, as tables. Nothing is written down here a second time."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from coderunner.entry import lay_out
from coderunner.judge.language import Language, registry
from coderunner.model import File, Limits
from coderunner.placeholders import Value, expand, file_values, limit_values, names_in
from coderunner.text import as_bytes

# Filled from the registry when somebody looks: importing this reads no files.
DEFAULT_IMAGES: dict[Language, str]
LANGUAGE_EXTENSIONS: dict[Language, str]
COMPILED_LANGUAGES: set[Language]
EXECUTION_COMMANDS: dict[Language, list[str]]
COMPILATION_COMMANDS: dict[Language, list[str]]


def get_execution_command(language: Language, code: str) -> list[str]:
    """The command that starts this code, with the names that tools usually have: where they really
    are is a matter of the machine."""
    return _command(language, registry().get(language.value).run, code)


def _command(language: Language, argv: tuple[str, ...], code: str | None = None) -> list[str]:
    """Placeholders that only a machine or a run can fill stay as they are."""
    known = registry().get(language.value)
    source = File(known.source, as_bytes(known.hello if code is None else code, "code"))
    layout = lay_out(known, (source,))
    values: dict[str, Value] = {
        **{name: f"{{{name}}}" for name in names_in(argv)},
        **{tool.id: tool.names[0] for tool in known.tools},
        **file_values(layout.main, layout.sources, layout.class_name),
        **limit_values(Limits()),
        "args": (),
    }
    if code is None and known.entry is not None:
        values["class"] = "{classname}"
    return list(expand(argv, values))


def _images() -> dict[Language, str]:
    return {language: registry().get(language.value).image for language in Language}


def _extensions() -> dict[Language, str]:
    found = {language: registry().get(language.value).extensions[0] for language in Language}
    return {language: extension.removeprefix(".") for language, extension in found.items()}


def _compiled() -> set[Language]:
    return {language for language in Language if registry().get(language.value).compile}


def _execution() -> dict[Language, list[str]]:
    return {
        language: _command(language, registry().get(language.value).run) for language in Language
    }


def _compilation() -> dict[Language, list[str]]:
    return {
        language: _command(language, registry().get(language.value).compile)
        for language in _compiled()
    }


_TABLES: dict[str, Callable[[], Any]] = {
    "DEFAULT_IMAGES": _images,
    "LANGUAGE_EXTENSIONS": _extensions,
    "COMPILED_LANGUAGES": _compiled,
    "EXECUTION_COMMANDS": _execution,
    "COMPILATION_COMMANDS": _compilation,
}


@functools.cache
def _table(name: str) -> Any:
    return _TABLES[name]()


def __getattr__(name: str) -> Any:
    if name in _TABLES:
        return _table(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""What coderunner_config.yaml says of a language. Its image and its command are settings; the rest
only repeats what the language's own file says, so it has to be the same."""

from __future__ import annotations

import functools
from collections.abc import Callable

from coderunner.errors import InvalidSettings, UnknownLanguage
from coderunner.language import Language, Languages, user_language_dir
from coderunner.settings.keys import Key

_BY_FILE = "that is said in a language file of your own"
_SOLUTION = "solution"  # what the specification calls a program, and its source


def _image(name: str, value: object) -> dict[Key, object]:
    return {("docker", "images", name): value}


def _extension(name: str, value: object) -> dict[Key, object]:
    language = _known(name)
    if language and f".{value}" not in language.extensions:
        known = " or ".join(extension.removeprefix(".") for extension in language.extensions)
        raise InvalidSettings(f"must be {known}, not {value!r:.80}", hint=_BY_FILE)
    return {}


def _compile(name: str, value: object) -> dict[Key, object]:
    language = _known(name)
    if language and value is not bool(language.compile):
        must = str(bool(language.compile)).lower()
        raise InvalidSettings(f"must be {must}, not {value!r:.80}", hint=_BY_FILE)
    return {}


def _compile_command(name: str, value: object) -> dict[Key, object]:
    if not isinstance(value, list):
        raise InvalidSettings(f"must be a list of words, not {value!r:.80}")
    language = _known(name)
    if language is None:
        return {("compile_commands", name): value}
    return {("compile_commands", name): [_word(word, language) for word in value]}


def _word(word: object, language: Language) -> object:
    """A word of the command, as a language's file would have it: whatever the compiler is called
    here, whatever the program's files are called."""
    for tool in language.tools:
        if word in tool.names:
            return f"{{{tool.id}}}"
    if word in [f"{_SOLUTION}{extension}" for extension in language.extensions]:
        return "{sources}"
    return language.artifacts[0] if word == _SOLUTION else word


OF_A_LANGUAGE: dict[str, Callable[[str, object], dict[Key, object]]] = {
    "image": _image,
    "extension": _extension,
    "compile": _compile,
    "compile_command": _compile_command,
}


def _known(name: str) -> Language | None:
    """None: one that another directory may have."""
    try:
        return _languages().get(name)
    except UnknownLanguage:
        return None


@functools.cache
def _languages() -> Languages:
    own = user_language_dir()
    return Languages([own] if own else [])

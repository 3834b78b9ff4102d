"""What pydantic does not like about a value, in plain words, and where the value stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings

from coderunner.errors import InvalidSettings
from coderunner.settings.keys import Key, dotted, fields_of, is_secret, known, meant, type_at
from coderunner.settings.layers import Layer, read_layers

_KINDS = {
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "dataclass_type": "must be a table",
    "path_type": "must be a path",
    "greater_than": "must be above {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
}


def in_words(
    error: ValidationError, kind: type[BaseSettings], given: Mapping[str, Any]
) -> InvalidSettings:
    """`given` is what the caller passed; the rest comes from the environment and files."""
    first, *others = error.errors(include_url=False)
    whole = tuple(part for part in first["loc"] if isinstance(part, str))
    if first["type"] == "extra_forbidden":
        return InvalidSettings(f"no setting is called {dotted(whole)}", hint=meant(kind, whole))
    what = _what(first)
    key = known(kind, whole)
    if (field := what.partition(" ")[0]) in fields_of(type_at(kind, key)):
        key, what = (*key, field), what.removeprefix(field).lstrip()  # a limit names itself
    shown = first["input"]
    if not is_secret(type_at(kind, key)) and not isinstance(shown, Mapping):
        what += f", not {shown!r:.80}"
    more = f" (and {len(others)} more)" if others and _several(first, others) else ""
    return InvalidSettings(f"{called(key, kind, given)}: {what}{more}")


def _several(first: ErrorDetails, others: list[ErrorDetails]) -> bool:
    """A value that may be one thing or another has an error for each, but is one mistake."""
    return any(other["loc"][:1] != first["loc"][:1] for other in others)


def _what(error: ErrorDetails) -> str:
    if words := _KINDS.get(error["type"]):
        return words.format(**error.get("ctx", {}))
    return error["msg"].removeprefix("Value error, ").replace("Input should be", "must be", 1)


def called(key: Key, kind: type[BaseSettings], given: Mapping[str, Any] = {}) -> str:
    """How to begin a sentence about a value: with the place that it comes from."""
    for layer in (Layer(given, dotted, dotted), *read_layers(kind)):
        if layer.says(key):
            return layer.called(key)
    return dotted(key)

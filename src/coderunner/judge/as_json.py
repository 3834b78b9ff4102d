"""Requests and results as JSON, and the JSON Schema that both keep to."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from coderunner.errors import InvalidInput

T = TypeVar("T")
_MOST_MISTAKES = 100


def read(kind: type[T], text: str | bytes) -> T:
    """One of ours from JSON. What does not belong there is an error that says where."""
    try:
        return _adapter(kind).validate_json(text)
    except ValidationError as error:
        raise InvalidInput(f"this is no {kind.__name__}: {in_words(error)}") from None


def from_object(kind: type[T], value: object) -> T:
    """The same from what YAML was read into: it must be something that JSON could say."""
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"this is no {kind.__name__}: {error}") from None
    return read(kind, text)


def write(value: Any) -> str:
    return _adapter(type(value)).dump_json(value).decode()


def schema(kind: type[Any]) -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_adapter(kind).json_schema(),
    }


def schema_text(kind: type[Any]) -> str:
    return json.dumps(schema(kind), indent=2) + "\n"


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    """Making one takes some milliseconds, and there are few kinds."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


_adapters: dict[type[Any], TypeAdapter[Any]] = {}


def in_words(error: ValidationError) -> str:
    if error.error_count() > _MOST_MISTAKES:  # to tell each takes its time
        return f"there are {error.error_count()} mistakes in it"
    first, *others = error.errors(include_url=False, include_input=False)
    where = ".".join(map(str, first["loc"]))
    more = f" (and {len(others)} more)" if others else ""
    return f"{where}: {first['msg']}{more}" if where else f"{first['msg']}{more}"

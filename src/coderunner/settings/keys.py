"""Which keys there are: the fields of the settings' class, of its sections, and of theirs."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, SecretStr

from coderunner.errors import InvalidSettings

SHOW_ALL = "`coderunner config show` lists them all"

Key = tuple[str, ...]  # docker.runtime is ("docker", "runtime")


def dotted(key: Key) -> str:
    return ".".join(key)


@functools.cache
def fields_of(kind: Any) -> Mapping[str, Any]:
    """The types of a section's fields, by name. Empty for what is no section."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: info.annotation for name, info in kind.model_fields.items()}
    if isinstance(kind, type) and is_dataclass(kind):
        return get_type_hints(kind)
    return {}


def type_at(kind: Any, key: Key) -> Any:
    """The type of a field; None if there is none of this name."""
    for name in key:
        kind = get_args(kind)[1] if is_table(kind) else fields_of(kind).get(name)
    return kind


def is_table(kind: Any) -> bool:
    """Its keys are what somebody wrote: names of languages, say."""
    return get_origin(kind) is dict


def is_secret(kind: Any) -> bool:
    return kind is SecretStr or any(map(is_secret, get_args(kind)))


def is_path(kind: Any) -> bool:
    return kind is Path or any(map(is_path, get_args(kind)))


def known(kind: Any, key: Key) -> Key:
    """As much of a key as there are fields for."""
    while type_at(kind, key) is None:
        key = key[:-1]
    return key


def all_keys(kind: Any, above: Key = ()) -> Iterator[Key]:
    """Every field that is no section itself."""
    for name, inner in fields_of(kind).items():
        if fields_of(inner):
            yield from all_keys(inner, (*above, name))
        else:
            yield (*above, name)


def leaves(values: Mapping[str, Any], kind: Any, above: Key = ()) -> Iterator[tuple[Key, Any]]:
    """Each single value of nested ones. Those of sections and tables come one by one."""
    for name, value in values.items():
        inner = type_at(kind, (name,))
        if isinstance(value, Mapping) and value and (fields_of(inner) or is_table(inner)):
            yield from leaves(value, inner, (*above, name))
        else:
            yield (*above, name), value


def put(values: dict[str, Any], key: Key, value: Any) -> None:
    """Set one key of nested values."""
    for name in key[:-1]:
        inner = values.get(name)
        values[name] = inner if isinstance(inner, dict) else {}
        values = values[name]
    values[key[-1]] = value


def check(values: Mapping[str, Any], kind: Any, called: Callable[[Key], str]) -> None:
    """Raise `InvalidSettings` for a key that no field has."""
    for key, _ in leaves(values, kind):
        if type_at(kind, key) is None:
            wrong = key[: len(known(kind, key)) + 1]
            place = called(key).removesuffix(f": {dotted(key)}")
            raise InvalidSettings(
                f"{place}: no setting is called {dotted(wrong)}", hint=meant(kind, wrong)
            )


def meant(kind: Any, key: Key) -> str:
    """A hint at what was probably meant."""
    near = _nearest(kind, key)
    return f"did you mean {near}?" if near else SHOW_ALL


def _nearest(kind: Any, key: Key) -> str:
    """A neighbour of such a name, or a key elsewhere that ends like it."""
    at = known(kind, key)
    beside = list(fields_of(type_at(kind, at)))
    wrong = key[len(at)]
    if near := difflib.get_close_matches(wrong, beside, n=1):
        return dotted((*at, near[0]))
    elsewhere = [dotted(other) for other in all_keys(kind) if other[-1] == wrong]
    if elsewhere:
        return elsewhere[0]
    return next(iter(difflib.get_close_matches(dotted(key), map(dotted, all_keys(kind)), n=1)), "")

"""Settings as variables: `CODERUNNER_` and the key in capitals, with `__` for a dot."""

from __future__ import annotations

import difflib
import json
import os
import re
from typing import Any

from coderunner.errors import InvalidSettings
from coderunner.settings.keys import (
    SHOW_ALL,
    Key,
    all_keys,
    check,
    fields_of,
    is_secret,
    is_table,
    put,
    type_at,
)
from coderunner.settings.layers import Layer

PREFIX = "CODERUNNER_"
CONFIG = "CODERUNNER_CONFIG"  # the file of settings
DEBUG = "CODERUNNER_DEBUG"  # the traceback of an unexpected error
TOKEN = "CODERUNNER_TOKEN"  # noqa: S105 - of the client: where it is, not what it is
_NO_SETTINGS = {CONFIG, DEBUG, TOKEN, "CODERUNNER_RUN"}  # the last marks a session's processes

# Where a service is called `coderunner`, Kubernetes and Docker's links tell its neighbours so.
_OF_ORCHESTRATORS = re.compile(
    r"CODERUNNER_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)"
)
_LINK = re.compile(r"(tcp|udp|sctp)://")


def read(kind: Any) -> Layer:
    """All variables that are ours. One for a section or a table is JSON, and what sets a part of it
    wins over that."""
    values: dict[str, Any] = {}
    names: dict[Key, str] = {}
    for key, name in sorted((_key(name, kind), name) for name in _ours()):
        put(values, key, _value(name, type_at(kind, key)))
        names[key] = name

    def called(key: Key) -> str:
        return _variable(key, names)

    check(values, kind, called)
    return Layer(values, lambda key: f"environment {called(key)}", called)


def name_of(key: Key) -> str:
    """The variable that sets a key."""
    return PREFIX + "__".join(key).upper()


def _ours() -> list[str]:
    return [
        name
        for name, value in os.environ.items()
        if name.upper().startswith(PREFIX)
        and name not in _NO_SETTINGS
        and not _OF_ORCHESTRATORS.fullmatch(name)
        and not (name == "CODERUNNER_PORT" and _LINK.match(value))
    ]


def _key(name: str, kind: Any) -> Key:
    """What a variable is about."""
    parts = tuple(name[len(PREFIX) :].lower().split("__"))
    for length in range(1, len(parts) + 1):
        inner = type_at(kind, parts[:length])
        if inner is None:
            break
        if is_table(inner) and length < len(parts):
            return (*parts[:length], "__".join(parts[length:]))
    else:
        return parts
    raise InvalidSettings(f"{name}: no setting has this name", hint=_meant(name, kind))


def _meant(name: str, kind: Any) -> str:
    known = [name_of(key) for key in all_keys(kind)] + [CONFIG, DEBUG]
    short, wrong = [other.removeprefix(PREFIX) for other in known], name.upper()[len(PREFIX) :]
    near = difflib.get_close_matches(wrong, short, n=1)
    near = near or [other for other in short if other.endswith(f"__{wrong}")]
    return f"did you mean {PREFIX}{near[0]}?" if near else SHOW_ALL


def _value(name: str, kind: Any) -> Any:
    text = os.environ[name]
    if not (fields_of(kind) or is_table(kind)):
        return text
    try:
        return json.loads(text)
    except ValueError:
        shown = "" if is_secret(kind) else f", not {text!r:.80}"
        raise InvalidSettings(
            f"{name}: must be JSON{shown}",
            hint=f'as in {name}=\'{{"name": "value"}}\', or {name}__NAME=value',
        ) from None


def _variable(key: Key, names: dict[Key, str]) -> str:
    """The variable that set this, all of what it is in, or something in it."""
    above = [key[:length] for length in range(len(key), 0, -1)]
    inside = [other for other in names if other[: len(key)] == key]
    found = next((other for other in (*above, *inside) if other in names), None)
    return names[found] if found else name_of(key)

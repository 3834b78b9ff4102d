"""Plain data as text, and back: numbers, texts, bytes, lists, tuples, sets, dicts, None.

Not pickle: reading that runs whatever the writer wants. What is of a subclass (a Counter, a named
tuple, a list that says it equals everything) arrives as the plain thing that it is.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SMALL = 1 << 53  # larger ones go as hexadecimal: reading many decimals is slow, and refused


class NotPlain(TypeError):
    """A value that cannot be handed over."""


def dumped(value: object) -> str:
    try:
        return json.dumps(_packed(value), separators=(",", ":"))
    except RecursionError:
        raise NotPlain("data that is too deep") from None


def loaded(text: str | bytes) -> Any:
    """Raises ValueError for what is no such text."""
    try:
        return _unpacked(json.loads(text))
    except (RecursionError, TypeError, KeyError, IndexError) as error:
        raise ValueError(f"it cannot be read: {type(error).__name__}") from None


def _packed(value: Any) -> Any:
    """Texts and truth as themselves; all else as a list that begins with what it is."""
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is float or (kind is int and -_SMALL < value < _SMALL):
        return value
    for base, tag in _TAGS:
        if isinstance(value, base):
            return [tag, *_PACK[tag](value)]
    raise NotPlain(f"{_article(kind.__name__)}")


def _items(base: type) -> Any:
    return lambda value: [_packed(item) for item in base.__iter__(value)]  # type: ignore[attr-defined]


_PACK: dict[str, Any] = {
    "s": lambda value: [str.__str__(value)],
    "i": lambda value: [int.__format__(value, "x")],
    "f": lambda value: [float.__float__(value)],
    "c": lambda value: [value.real, value.imag],
    "b": lambda value: [bytes.hex(value)],
    "ba": lambda value: [bytearray.hex(value)],
    "l": _items(list),
    "t": _items(tuple),
    "set": _items(set),
    "fs": _items(frozenset),
    "d": lambda value: [[_packed(key), _packed(item)] for key, item in dict.items(value)],
}
_UNPACK: dict[str, Any] = {
    "s": lambda given: given[0],
    "i": lambda given: int(given[0], 16),
    "f": lambda given: float(given[0]),
    "c": lambda given: complex(*given),
    "b": lambda given: bytes.fromhex(given[0]),
    "ba": lambda given: bytearray.fromhex(given[0]),
    "l": lambda given: list(map(_unpacked, given)),
    "t": lambda given: tuple(map(_unpacked, given)),
    "set": lambda given: set(map(_unpacked, given)),
    "fs": lambda given: frozenset(map(_unpacked, given)),
    "d": lambda given: {_unpacked(key): _unpacked(item) for key, item in given},
}
_TAGS = (
    (list, "l"), (tuple, "t"), (dict, "d"), (str, "s"), (int, "i"), (float, "f"),
    (complex, "c"), (bytes, "b"), (bytearray, "ba"), (set, "set"), (frozenset, "fs"),
)  # fmt: skip


def _unpacked(value: Any) -> Any:
    if type(value) is not list:
        return value
    return _UNPACK[value[0]](value[1:])


def _article(kind: str) -> str:
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"

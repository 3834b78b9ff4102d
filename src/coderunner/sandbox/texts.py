"""Texts that are written down in code, also in pieces: `"o" + "s"`, `"%s" % "os"`, `"so"[::-1]`.

Nothing is evaluated by Python itself: what is not known here to stay small is not a known text.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Text = str | bytes  # not so easily said in an old Python
_MOST_LENGTH = 10_000  # of what is put together
_MOST_NAMES = 20  # that stand for one another


class Texts:
    """`names`: what names stand for that are given a value only once."""

    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self._names = names
        self._known: dict[int, Text | None] = {}
        self._depth = 0  # of names

    def of(self, node: ast.expr | None) -> Text | None:
        """None: it is not known, or no text."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, (str, bytes)) else None
        if node is None or not isinstance(node, _FOLDED):
            return None
        if id(node) not in self._known:
            self._known[id(node)] = None  # while it is looked at: a name may stand for itself
            text = self._folded(node)
            self._known[id(node)] = text if text is None or len(text) <= _MOST_LENGTH else None
        return self._known[id(node)]

    def _folded(self, node: ast.expr) -> Text | None:
        if isinstance(node, ast.Name):
            return self._of_name(node.id)
        if isinstance(node, (ast.NamedExpr, ast.FormattedValue)):
            plain = isinstance(node, ast.NamedExpr) or node.format_spec is None
            return self.of(node.value) if plain else None
        if isinstance(node, ast.JoinedStr):
            return self._joined("", node.values)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Subscript):
            return self._turned(node)
        return self._call(node) if isinstance(node, ast.Call) else None

    def _of_name(self, name: str) -> Text | None:
        if self._depth >= _MOST_NAMES:
            return None
        self._depth += 1
        text = self.of(self._names.get(name))
        self._depth -= 1
        return text

    def _joined(self, between: Text, parts: list[ast.expr]) -> Text | None:
        texts = [self.of(part) for part in parts]
        if len(between) * len(texts) > _MOST_LENGTH:
            return None
        if isinstance(between, str):
            words = [text for text in texts if isinstance(text, str)]
            return between.join(words) if len(words) == len(texts) else None
        pieces = [text for text in texts if isinstance(text, bytes)]
        return between.join(pieces) if len(pieces) == len(texts) else None

    def _operation(self, node: ast.BinOp) -> Text | None:
        left = self.of(node.left)
        if isinstance(node.op, ast.Add):
            return None if left is None else self._joined(left[:0], [node.left, node.right])
        if isinstance(node.op, ast.Mod) and isinstance(left, str):
            given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            return self._filled(left.split("%s"), given, "%")
        return None

    def _filled(self, parts: list[str], given: list[ast.expr], sign: str) -> Text | None:
        """Only plain gaps: a width of a billion is no work of ours."""
        if len(parts) != len(given) + 1 or any(sign in part for part in parts):
            return None
        texts = [text for text in map(self.of, given) if isinstance(text, str)]
        if len(texts) != len(given):
            return None
        return parts[0] + "".join(map(str.__add__, texts, parts[1:]))

    def _turned(self, node: ast.Subscript) -> Text | None:
        text, part = self.of(node.value), node.slice
        if text is None or not isinstance(part, ast.Slice) or part.lower or part.upper:
            return None
        return text[::-1] if _is_minus_one(part.step) else None

    def _call(self, node: ast.Call) -> Text | None:
        given = node.args
        if isinstance(node.func, ast.Name):
            return _of_numbers(node.func.id, given)
        if not isinstance(node.func, ast.Attribute) or node.keywords:
            return None
        text, method = self.of(node.func.value), node.func.attr
        if text is None:
            return None
        if method == "join" and len(given) == 1 and isinstance(given[0], (ast.List, ast.Tuple)):
            return self._joined(text, given[0].elts)
        if method == "format" and isinstance(text, str):
            return self._filled(text.split("{}"), given, "{")
        if method == "decode" and isinstance(text, bytes):
            return text.decode("utf-8", "replace")
        if method == "encode" and isinstance(text, str):
            return text.encode("utf-8", "replace")
        if method in ("lower", "strip") and not given:
            return text.lower() if method == "lower" else text.strip()
        return None


_FOLDED = (
    ast.Name,
    ast.NamedExpr,
    ast.FormattedValue,
    ast.JoinedStr,
    ast.BinOp,
    ast.Subscript,
    ast.Call,
)


def _is_minus_one(node: ast.expr | None) -> bool:
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
        and node.operand.value == 1
    )


def _of_numbers(function: str, given: list[ast.expr]) -> Text | None:
    """`chr(111)`, `bytes([111, 115])`."""
    if len(given) != 1:
        return None
    try:
        value = ast.literal_eval(given[0])
        if function == "chr":
            return chr(value)
        if function == "bytes" and isinstance(value, (list, tuple)):
            return bytes(value)
    except (TypeError, ValueError, OverflowError):
        pass
    return None

"""Which modules Python code asks for, read from its syntax tree.

Statements are plain. Calls are read as far as they can be: `__import__("os")`,
`importlib.import_module("os")` under whatever name, `exec("import os")`, and modules that are taken
from where others have imported them (`pathlib.os`). What is computed at run time has no name here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_IMPORTERS = frozenset({"__import__", "import_module"})
_EVALUATORS = frozenset({"exec", "eval", "compile"})
_MOST_DEPTH = 5  # of code in code


@dataclass(frozen=True, slots=True)
class Import:
    module: str | None  # None: a name that nobody can know before the program runs
    line: int
    by_attribute: bool = False  # taken from another module, which has imported it


def imports_of(source: str | bytes) -> list[Import]:
    """In the order of their lines; none of code that does not parse."""
    return sorted(_found(source, 0), key=lambda found: found.line)


def _found(source: str | bytes, depth: int) -> list[Import]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return list(_Reading(tree, depth).imports())


class _Reading:
    def __init__(self, tree: ast.Module, depth: int) -> None:
        self._nodes = list(ast.walk(tree))
        self._depth = depth
        self._importers = set(_IMPORTERS)
        self._modules: set[str] = set()  # names that stand for modules
        self._called: set[int] = set()  # importers that were looked at with their calls

    def imports(self) -> Iterator[Import]:
        for node in self._nodes:
            yield from self._statement(node)
        for node in self._nodes:
            if isinstance(node, ast.Call):
                yield from self._call(node)
        for node in self._nodes:
            yield from self._in_passing(node)

    def _statement(self, node: ast.AST) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for name in node.names:
                self._modules.add(name.asname or name.name.partition(".")[0])
                yield Import(name.name, node.lineno)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield Import(node.module, node.lineno)
            for name in node.names:
                self._modules.add(name.asname or name.name)
                if name.name in _IMPORTERS:
                    self._importers.add(name.asname or name.name)
                yield Import(name.name, node.lineno, by_attribute=True)

    def _call(self, node: ast.Call) -> Iterator[Import]:
        name = _name(node.func)
        given = [*node.args, *(k.value for k in node.keywords if k.arg in ("name", "source"))]
        text = _text(given[0]) if given else None
        if name in self._importers:
            self._called.add(id(node.func))
            yield Import(text, node.lineno)
        elif name in _EVALUATORS and text is not None and self._depth < _MOST_DEPTH:
            for found in _found(text.strip(), self._depth + 1):
                yield Import(found.module, node.lineno, found.by_attribute)
        elif name == "getattr" and len(given) > 1 and _text(given[1]) in _IMPORTERS:
            yield Import(None, node.lineno)

    def _in_passing(self, node: ast.AST) -> Iterator[Import]:
        """Importers that are handed on, to be called under another name; modules of modules."""
        if isinstance(node, ast.Constant) and node.value == "__import__":
            yield Import(None, node.lineno)
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return
        if _name(node) in self._importers and id(node) not in self._called:
            yield Import(None, node.lineno)
        if isinstance(node, ast.Attribute) and self._is_module(node.value):
            yield Import(node.attr, node.lineno, by_attribute=True)

    def _is_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._modules


def _name(node: ast.expr) -> str:
    """Of what is called, without where it is from."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.expr) -> str | None:
    """A text that is written down, also in pieces."""
    if isinstance(node, ast.Constant):
        value = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
        return value if isinstance(value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = [_text(part) for part in node.values]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_text(node.left), _text(node.right)]
    else:
        return None
    return None if None in parts else "".join(part for part in parts if part is not None)

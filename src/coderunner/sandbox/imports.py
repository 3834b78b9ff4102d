"""Which modules Python code asks for, read from its syntax tree.

Statements are plain. Calls are read as far as they can be: `__import__("os")`,
`importlib.import_module("os")` under whatever name, `exec("import os")`, and modules that are taken
from where others have imported them (`pathlib.os`). What is computed at run time has no name here.

It stands on the standard library alone and is fine with Python 3.8, since it is also run in a box
(`import_check`).
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coderunner.sandbox.origins import EVALUATORS, Origins, is_importer

if TYPE_CHECKING:
    from coderunner.sandbox.texts import Text

# Ways to a module that have other uses, too: what they are given counts if it is known.
_LOADERS = frozenset(
    {"load_module", "load_source", "find_spec", "find_module", "find_loader", "get_loader"}
    | {"resolve_name", "locate", "safeimport", "run_module", "create_module"}
)
_RUN_TEXTS = EVALUATORS | {"timeit.timeit", "timeit.repeat", "timeit.Timer"}
_MOST_DEPTH = 5  # of code in code
_NAME = "<code that is read for its imports>"
_OURS = re.compile(re.escape(_NAME))
_CUT = re.compile(rb"\0[^\n]*\n?")


class TooDeep(Exception):
    """The code is nested so deeply that it cannot be read here."""


@dataclass(frozen=True)
class Import:
    module: str | None  # None: a name that nobody can know before the program runs
    line: int
    by_attribute: bool = False  # taken from another module, which has imported it


def imports_of(source: str | bytes) -> list[Import] | None:
    """In the order of their lines; None of code that does not parse."""
    if isinstance(source, bytes):
        # Before 3.11.4 Python drops the rest of a line behind a NUL, and runs what is left.
        source = _CUT.sub(b"", source)
    try:
        found = _found(source, 0)
    except (RecursionError, MemoryError):
        raise TooDeep from None
    return None if found is None else sorted(found, key=lambda each: each.line)


def _found(source: Text, depth: int) -> list[Import] | None:
    _no_warnings()
    try:
        tree = ast.parse(source, _NAME)
    except (SyntaxError, ValueError):
        return None
    return list(_Reading(tree, depth).imports())


def _no_warnings() -> None:
    """What Python warns of in other people's code is nothing for our caller's stderr; and where
    warnings are errors, the code would seem not to parse."""
    if warnings.filters[:1] != [("ignore", None, Warning, _OURS, 0)]:
        warnings.filterwarnings("ignore", module=_OURS.pattern)


class _Reading:
    def __init__(self, tree: ast.Module, depth: int) -> None:
        self._nodes = list(ast.walk(tree))
        self._depth = depth
        self._origins = Origins(self._nodes)
        self._texts = self._origins.texts
        self._called: set[int] = set()  # importers that were looked at with their calls
        self._star = False

    def imports(self) -> Iterator[Import]:
        for node in self._nodes:
            yield from self._statement(node)
        for node in self._nodes:
            if isinstance(node, ast.Call):
                yield from self._call(node)
        for node in self._nodes:
            if isinstance(node, ast.expr):
                yield from self._in_passing(node)

    def _statement(self, node: ast.AST) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for name in node.names:
                yield Import(name.name, node.lineno)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield Import(node.module, node.lineno)
            for name in node.names:
                self._star = self._star or name.name == "*"
                yield Import(name.name, node.lineno, by_attribute=True)

    def _call(self, node: ast.Call) -> Iterator[Import]:
        origins = self._origins.of(node.func)
        given = [*node.args, *(k.value for k in node.keywords)]
        if self._origins.imports_by(node):
            self._called.add(id(node.func))
            yield from self._importer(node, given)
        elif not origins.isdisjoint(_RUN_TEXTS):
            for text in map(self._texts.of, given):
                yield from self._code(text, node.lineno)
        elif given and (name := _last(node.func)) in _LOADERS:
            text = self._texts.of(given[0])
            if isinstance(text, str) and (origins or name == "load_module"):
                yield Import(text.partition(":")[0], node.lineno, by_attribute=not origins)
        elif given and "builtins" in self._origins.of(given[0]) and "builtins.getattr" in origins:
            if self._texts.of(given[1] if len(given) > 1 else None) is None:
                yield Import(None, node.lineno)

    def _importer(self, node: ast.Call, given: list[ast.expr]) -> Iterator[Import]:
        text = self._texts.of(given[0]) if given else None
        if not isinstance(text, str):
            yield Import(None, node.lineno)
        elif not text.startswith("."):
            yield Import(text, node.lineno)
        elif len(given) > 1 and isinstance(package := self._texts.of(given[1]), str):
            yield Import(package, node.lineno)

    def _code(self, text: Text | None, line: int) -> Iterator[Import]:
        if text is None or self._depth >= _MOST_DEPTH:
            return
        for found in _found(text.strip(), self._depth + 1) or ():
            yield Import(found.module, line, found.by_attribute)

    def _in_passing(self, node: ast.expr) -> Iterator[Import]:
        """Importers that are handed on, to be called under another name; modules of modules."""
        if self._texts.of(node) == "__import__":
            yield Import(None, node.lineno)
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            return
        if isinstance(node, ast.Name):
            if self._star and not self._origins.is_bound(node.id):
                yield Import(node.id, node.lineno, by_attribute=True)
        elif not isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
            return
        origins = self._origins.of(node)
        if id(node) not in self._called and any(map(is_importer, origins)):
            yield Import(None, node.lineno)
        if not isinstance(node, ast.Name):
            yield from self._of_module(node, origins)

    def _of_module(
        self, node: ast.Attribute | ast.Subscript | ast.Call, origins: Iterable[str]
    ) -> Iterator[Import]:
        for origin in origins:
            yield Import(origin.rpartition(".")[2], node.lineno, by_attribute=True)
        if isinstance(node, ast.Subscript) and _last(node.value) == "__globals__":
            name = self._texts.of(node.slice)
            if isinstance(name, str):
                yield Import(name, node.lineno, by_attribute=True)


def _last(node: ast.expr) -> str:
    """Of a name, without where it is from."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""

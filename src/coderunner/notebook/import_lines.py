"""Imports of Python code, read from its syntax tree, one by one, and written down again."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_FUTURE = "__future__"


@dataclass(frozen=True, slots=True)
class ImportLine:
    """One name that code imports."""

    module: str
    name: str = ""  # what is taken from the module; empty: the module itself
    alias: str = ""

    def __str__(self) -> str:
        called = f" as {self.alias}" if self.alias else ""
        if self.name:
            return f"from {self.module} import {self.name}{called}"
        return f"import {self.module}{called}"

    @property
    def is_future(self) -> bool:
        return self.module == _FUTURE

    @property
    def binds(self) -> str:
        """What it is called afterwards; a star, if nobody can know."""
        return self.alias or self.name or self.module.partition(".")[0]

    def displaces(self, other: ImportLine) -> bool:
        """Whether nothing is left of the other one: the name means something else now. `import
        a.b` and `import a.c` share theirs."""
        if self.binds == "*" or self.is_future or other.is_future or self.binds != other.binds:
            return False
        return bool(self.alias or self.name or other.alias or other.name)


def parsed(code: str) -> ast.Module | None:
    """None if it does not parse: Python will say why, when it is run."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def imports_of(statements: Sequence[ast.stmt]) -> list[ImportLine]:
    """Of these statements themselves, not of what is in them: a function's imports are its own, and
    those under a condition depend on it."""
    return [line for statement in statements for line in _lines(statement)]


def leading(tree: ast.Module) -> list[ast.stmt]:
    """The docstring and the imports that the code begins with."""
    body = tree.body
    end = next(
        (i for i, statement in enumerate(body) if not (_is_import(statement) or _is_text(i, body))),
        len(body),
    )
    return body[:end]


def first_ones(tree: ast.Module) -> list[ast.stmt]:
    """What has to stay in front of everything: the docstring and imports from `__future__`."""
    kept: list[ast.stmt] = []
    for i, statement in enumerate(tree.body):
        if not (_is_text(i, tree.body) or _is_future(statement)):
            break
        kept.append(statement)
    return kept


def _is_text(place: int, body: Sequence[ast.stmt]) -> bool:
    statement = body[place]
    return (
        place == 0
        and isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == _FUTURE


def _lines(statement: ast.stmt) -> Iterator[ImportLine]:
    if isinstance(statement, ast.Import):
        for name in statement.names:
            yield ImportLine(name.name, alias=name.asname or "")
    elif isinstance(statement, ast.ImportFrom) and not statement.level and statement.module:
        for name in statement.names:
            yield ImportLine(statement.module, name.name, name.asname or "")

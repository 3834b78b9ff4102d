"""Tests that are run, one after the other."""

from __future__ import annotations

from time import perf_counter

from _grading.loading import NAMES  # type: ignore[import-not-found]  # it is there in the box
from _grading.verdicts import TESTS, verdict  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import CodeType
    from typing import Any

    Work = Callable[[], object]
    Statement = tuple[int, CodeType, list[str]]  # its line, and the names that it binds

_exec, _compile, _getattr, _isinstance, _TypeError = exec, compile, getattr, isinstance, TypeError
_Generator = type(_ for _ in ())


class Run:
    def __init__(self, channel: Any, space: Any, restore: Work) -> None:
        self.channel = channel
        self.space = space
        self._restore = restore

    def restore(self) -> None:
        """Whatever the solution has changed of others is as it was."""
        self._restore()
        self.space.restore()

    def statements(self, statements: Iterable[Statement], items: Mapping[int, str]) -> None:
        """The tests' module, statement by statement. Those that are tests have an item; of the
        others only trouble is told."""
        for index, (line, code, names) in enumerate(statements):
            item = items.get(index)
            if item is not None:
                self.test(item, self._doing(code))
            else:
                self.restore()
                status, message, where = verdict(self._doing(code))
                if status != "passed":
                    self.channel.report(f"line {line}", "error", message, where or line)
            self.space.keep(names)

    def _doing(self, code: CodeType) -> Work:
        return lambda: _exec(code, self.space.names)

    def functions(self, items: Iterable[str]) -> None:
        for item in items:
            self.test(item, self._calling(item))

    def _calling(self, name: str) -> Work:
        def call() -> None:
            result = self.space.names[name]()
            if _getattr(result, "__await__", None) is not None:
                import asyncio

                asyncio.run(result)
            elif _isinstance(result, _Generator):
                raise _TypeError(f"{name} is a generator: nothing of it is run")

        return call

    def test(self, item: str, work: Work) -> None:
        self.restore()
        self.channel.started(item)
        begin = perf_counter()
        status, message, line = verdict(work)
        self.channel.report(item, status, message, line, (perf_counter() - begin) * 1000)


def statements_of(source: str, rewritten: Callable[[Any, list[str]], Any]) -> list[Statement]:
    """Each statement of the tests by itself, so that one that fails does not end them all."""
    import __future__

    import ast

    tree, lines = _as_a_part(ast.parse(source)), source.split("\n")
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for name in node.names:
                flags |= _getattr(__future__, name.name).compiler_flag
    set_by_functions = {
        name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names
    }
    return [
        (
            node.lineno,
            _compile(rewritten(ast.Module([node], []), lines), TESTS, "exec", flags, True),
            [name for name in _bound(node) if name not in set_by_functions],
        )
        for node in tree.body
    ]


def _bound(node: Any) -> list[str]:
    """The names that a statement of a module binds or unbinds there, and some more."""
    import ast

    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [name.asname or name.name.partition(".")[0] for name in node.names]
    return [
        name.id
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, (ast.Store, ast.Del))
    ]


def _as_a_part(tree: Any) -> Any:
    """Without `unittest.main()`: they are run anyway. And without `from solution import *`: its
    names are there, behind the built-in functions, and it is not to bring a `len` of its own."""
    import ast

    class Leaving(ast.NodeTransformer):
        def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
            stars = node.module in NAMES and node.names[0].name == "*"
            return ast.copy_location(ast.Pass(), node) if stars else node

        def visit_Expr(self, node: ast.Expr) -> Any:
            called = ast.unparse(node.value.func) if isinstance(node.value, ast.Call) else ""
            runs = called in ("unittest.main", "pytest.main")
            return ast.copy_location(ast.Pass(), node) if runs else node

    return Leaving().visit(tree)

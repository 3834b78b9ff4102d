"""Tests that are run, one after the other."""

from __future__ import annotations

import sys
from time import perf_counter

from _grading.verdicts import TESTS, verdict  # type: ignore[import-not-found]  # in the box

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import CodeType, ModuleType
    from typing import Any

    Work = Callable[[], object]

_exec, _compile, _vars, _getattr, _len = exec, compile, vars, getattr, len


class Run:
    def __init__(self, channel: Any, space: ModuleType, restore: Work) -> None:
        self.channel = channel
        self.space = space
        self.restore = restore

    def statements(self, codes: Iterable[tuple[int, CodeType]], items: Mapping[int, str]) -> None:
        """The tests' module, statement by statement. Those that are tests have an item; of the
        others only trouble is told."""
        for index, (line, code) in enumerate(codes):
            item = items.get(index)
            if item is not None:
                self.test(item, self._doing(code))
                continue
            status, message, where = verdict(self._doing(code))
            if status != "passed":
                self.channel.report(f"line {line}", "error", message, where or line)

    def _doing(self, code: CodeType) -> Work:
        return lambda: _exec(code, _vars(self.space))

    def functions(self, items: Iterable[str]) -> None:
        for item in items:
            self.test(item, self._calling(item))

    def _calling(self, name: str) -> Work:
        def call() -> None:
            result = _vars(self.space)[name]()
            if _getattr(result, "__await__", None) is not None:
                import asyncio

                asyncio.run(result)

        return call

    def test(self, item: str, work: Work) -> None:
        self.restore()
        self.channel.started(item)
        begin = perf_counter()
        status, message, line = verdict(work)
        self.channel.report(item, status, message, line, (perf_counter() - begin) * 1000)


def codes_of(source: str, rewritten: Callable[[Any, list[str]], Any]) -> list[tuple[int, CodeType]]:
    """Each statement of the tests with its line, so that one that fails does not end them all."""
    import __future__

    import ast

    tree, lines = ast.parse(source), source.split("\n")
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for name in node.names:
                flags |= _getattr(__future__, name.name).compiler_flag
    _show_in_tracebacks(source)
    return [
        (
            node.lineno,
            _compile(rewritten(ast.Module([node], []), lines), TESTS, "exec", flags, True),
        )
        for node in tree.body
    ]


def _show_in_tracebacks(source: str) -> None:
    """There is no file of the tests that could be read for their lines."""
    import linecache

    linecache.cache[TESTS] = (_len(source), None, source.splitlines(keepends=True), TESTS)

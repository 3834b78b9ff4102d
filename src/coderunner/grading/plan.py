"""Which tests there are in a piece of test code. Read from its syntax, before anything runs: what
is not heard of later is an error, never a pass.

Tests are, at the top level,

    assert add(1, 2) == 3               each one
    for a, b in cases: assert …         a statement that holds asserts, as a whole
    if __name__ == "__main__": …        the same, if there is no other test
    check(add)                          a call of a function with asserts, or of one that is called
                                        assert…, check… or verify…
    def test_add(): …                   functions
    class TestAdd(unittest.TestCase)    classes, each of their methods
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_CHECKING = re.compile(r"_*(assert|check|verify)", re.IGNORECASE)
_LONGEST_NAME = 120
_AROUND_TESTS = ("setup_module", "teardown_module", "setup_function", "teardown_function")
_SOLUTION = ("solution", "main")  # what tests may import it as
_UNITTEST, _PYTEST = "with_unittest", "with_pytest"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Test:
    """One test, or a group of which nobody knows yet how many there are."""

    __test__ = False

    id: str
    name: str
    line: int
    is_group: bool = False
    at_least: tuple[str, ...] = ()  # tests that a group must have


@dataclass(frozen=True, slots=True)
class Plan:
    source: str
    tests: tuple[Test, ...]
    statements: dict[int, str]  # which of the module's statements is which test
    functions: tuple[str, ...]
    kinds: tuple[str, ...]  # what else is needed to run them
    imports: tuple[str, ...]
    asked: tuple[str, ...]  # names that the tests use
    name: str = "tests"  # what they are called when they ask
    asserting: tuple[str, ...] = ()  # functions with asserts

    @classmethod
    def nothing(cls) -> Plan:
        """For a box that is not to know of any tests."""
        return cls("", (), {}, (), (), (), ())

    def told(self, key: bytes, mark: bytes, *, separate: bool = False) -> bytes:
        """What the box has to know, on one line."""
        said = {
            "source": self.source,
            "statements": self.statements,
            "functions": self.functions,
            "groups": [test.id for test in self.tests if test.is_group],
            "kinds": self.kinds,
            "imports": self.imports,
            "asked": self.asked,
            "name": self.name,
            "key": key,
            "mark": mark,
            "separate": separate,
        }
        return repr(said).encode("utf-8", "surrogatepass") + b"\n"


def plan_of(source: str) -> Plan:
    """Raises SyntaxError or ValueError for what is no Python."""
    source = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _Reading(source).plan()


class _Reading:
    def __init__(self, source: str) -> None:
        self._source = source
        self._tree = ast.parse(source)
        self._nodes = list(ast.walk(self._tree))
        body = self._tree.body
        self._functions = {node.name: node for node in body if isinstance(node, Function)}
        self._classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
        self._asserting = _asserting(self._functions)

    def plan(self) -> Plan:
        functions = [n for n in self._functions.values() if n.name.startswith("test")]
        classes = [n for n in self._classes.values() if self._methods(n)]
        wants_pytest = self._wants_pytest(functions, classes)
        grouped = [*(functions if wants_pytest else ()), *classes]
        alone = [] if wants_pytest else functions
        body = dict(enumerate(self._tree.body))
        statements = {i: n for i, n in body.items() if not _is_main_block(n) and self._is_test(n)}
        as_main = not (statements or alone or grouped)
        if as_main:
            statements = {i: n for i, n in body.items() if self._is_test(n)}
        tests = [
            *(Test(f"#{i}", self._name(n), n.lineno) for i, n in statements.items()),
            *(Test(n.name, n.name, n.lineno) for n in alone),
            *(self._group(n) for n in grouped),
        ]
        return Plan(
            source=self._source,
            tests=tuple(sorted(tests, key=lambda test: test.line)),
            statements={index: f"#{index}" for index in statements},
            functions=tuple(n.name for n in alone),
            kinds=(_PYTEST,) if wants_pytest else (_UNITTEST,) if classes else (),
            imports=tuple(dict.fromkeys(self._imports())),
            asked=() if self._imports_solution() else self._names(),
            name="__main__" if as_main else "tests",
            asserting=tuple(sorted(self._asserting)),
        )

    def _wants_pytest(self, functions: list[Function], classes: list[ast.ClassDef]) -> bool:
        if not functions and not classes:
            return False
        return (
            any(name.partition(".")[0] == "pytest" for name in self._imports())
            or any(_arguments(node) for node in functions)
            or any(name in self._functions for name in _AROUND_TESTS)
            or not all(self._is_unittest(node) for node in classes)
        )

    def _is_unittest(self, node: ast.ClassDef) -> bool:
        return any(
            _last_name(base).endswith("TestCase")
            or (
                _last_name(base) in self._classes
                and self._is_unittest(self._classes[_last_name(base)])
            )
            for base in node.bases
            if _last_name(base) != node.name
        )

    def _methods(self, node: ast.ClassDef) -> tuple[str, ...]:
        """Its tests, if it is a class of tests."""
        if not self._is_unittest(node) and not node.name.startswith("Test"):
            return ()
        own = [n.name for n in node.body if isinstance(n, Function) and n.name.startswith("test")]
        above = [
            method
            for base in map(_last_name, node.bases)
            if base in self._classes and base != node.name
            for method in self._methods(self._classes[base])
        ]
        return tuple(dict.fromkeys((*own, *above)))

    def _group(self, node: Function | ast.ClassDef) -> Test:
        if not isinstance(node, ast.ClassDef):
            return Test(node.name, node.name, node.lineno, is_group=True)
        methods = tuple(f"{node.name}.{name}" for name in self._methods(node))
        return Test(node.name, node.name, node.lineno, is_group=True, at_least=methods)

    def _is_test(self, node: ast.stmt) -> bool:
        if isinstance(node, Function | ast.ClassDef):
            return False
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = _last_name(node.value.func)
            if called in self._functions and called.startswith("test"):
                return False  # it is run anyway
            if _CHECKING.match(called):
                return True
        return any(
            _asserts(inner)
            or (isinstance(inner, ast.Call) and _last_name(inner.func) in self._asserting)
            for inner in ast.walk(node)
        )

    def _name(self, node: ast.stmt) -> str:
        text = ast.get_source_segment(self._source, node) or ""
        line = " ".join(text.split())
        return line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "…"

    def _names(self) -> tuple[str, ...]:
        return tuple({n.id for n in self._nodes if isinstance(n, ast.Name)})

    def _imports_solution(self) -> bool:
        """By name: then they use none of its names that they have not asked for."""
        stars = (n.names[0].name == "*" for n in self._nodes if isinstance(n, ast.ImportFrom))
        return not any(stars) and any(name in _SOLUTION for name in self._imports())

    def _imports(self) -> Iterator[str]:
        for node in self._nodes:
            if isinstance(node, ast.Import):
                yield from (name.name for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module
        if any(isinstance(node, ast.AsyncFunctionDef) for node in self._nodes):
            yield "asyncio"


def _asserting(functions: dict[str, Function]) -> set[str]:
    """Those that hold asserts, or call others that do."""
    calls = {
        name: {_last_name(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}
        for name, node in functions.items()
    }
    found = {name for name, node in functions.items() if any(_asserts(n) for n in ast.walk(node))}
    while more := {name for name in calls if name not in found and calls[name] & found}:
        found |= more
    return found


def _asserts(node: ast.AST) -> bool:
    """`raise AssertionError` is an assert, too."""
    if isinstance(node, ast.Raise) and node.exc is not None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return _last_name(raised) == "AssertionError"
    return isinstance(node, ast.Assert)


def _arguments(node: Function) -> bool:
    """Whether somebody has to supply something: fixtures, parameters."""
    given = node.args
    asked_for = len(given.posonlyargs) + len(given.args) - len(given.defaults)
    return asked_for > 0 or any(default is None for default in given.kw_defaults)


def _is_main_block(node: ast.stmt) -> bool:
    """`if __name__ == "__main__":` is for who runs the tests as a program."""
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Compare)
        and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))
    )


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""

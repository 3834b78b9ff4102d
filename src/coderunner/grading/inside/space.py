"""The tests' own module: its names, and the solution's behind them.

A name that the tests do not bind is looked for among the built-in functions and then in the
solution, where it is as it is now: `count`, which the solution counts up, is counted up for its
tests, too. What the tests have bound is theirs: before each test it is put back.
"""

from __future__ import annotations

import sys

from _grading.pristine import kept_classes  # type: ignore[import-not-found]  # in the box
from _grading.verdicts import TESTS  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import ModuleType
    from typing import Any

_vars, _type, _isinstance, _dict, _ModuleType = vars, type, isinstance, dict, type(sys)
_callable = callable


class Space:
    def __init__(
        self, solution: ModuleType, asked: Collection[str], builtins: dict[str, Any]
    ) -> None:
        self.module = _ModuleType("tests")
        self.module.__file__ = TESTS
        sys.modules["tests"] = self.module
        self.names: dict[str, Any] = _vars(self.module)
        self.names["__builtins__"] = _behind(_vars(solution), asked, builtins)
        self._kept: dict[str, Any] = {}
        self._classes: list[Callable[[], None]] = []

    def keep(self, names: Collection[str]) -> None:
        """These are the tests', as they are now."""
        for name in names:
            if name not in self.names:
                self._kept.pop(name, None)
            else:
                value = self._kept[name] = self.names[name]
                if _isinstance(value, _type) and value.__module__ == "tests":
                    self._classes.append(kept_classes([value], _is_method))

    def restore(self) -> None:
        now = self.names
        for name, value in self._kept.items():
            if now.get(name, self) is not value:
                now[name] = value
        for restore in self._classes:
            restore()


def _is_method(value: object) -> bool:
    """Data of a class of tests is its own: `setUpClass` sets it."""
    return _callable(value) or _isinstance(value, (classmethod, staticmethod, property))


def _behind(
    solution: dict[str, Any], asked: Collection[str], builtins: dict[str, Any]
) -> dict[str, Any]:
    """Built-in functions, and behind them the names of the solution.

    A solution may be called `sum`; one that brings an `abs` beside it, for its tests to use, may
    not. So such names count only if there is no other that the tests could be asking for."""
    own = [name for name in solution if name[:2] != "__"]
    names = _dict(builtins)
    if asked and not [name for name in asked if name in own and name not in builtins]:
        names.update((name, solution[name]) for name in own if name in builtins)

    class Behind(_dict):  # type: ignore[misc, valid-type]
        def __missing__(self, name: str) -> Any:
            return solution[name]

    return Behind(names)

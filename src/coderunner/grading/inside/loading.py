"""The solution as a module, and the tests' own module beside it."""

from __future__ import annotations

import sys

from _grading.verdicts import (  # type: ignore[import-not-found]  # it is there in the box
    SOLUTION,
    TESTS,
    explained,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from types import ModuleType
    from typing import Any

_exec, _compile, _vars, _open, _ModuleType = exec, compile, vars, open, type(sys)

NAMES = ("solution", "main")  # under which tests may import it


def load_solution(module: ModuleType) -> str:
    """Run the solution as this module; what kept it from loading, or nothing."""
    module.__file__ = SOLUTION
    stand_for_solution(module)
    sys.argv[:] = [SOLUTION]
    try:
        with _open(SOLUTION, "rb") as file:
            code = _compile(file.read(), SOLUTION, "exec", dont_inherit=True)
        _exec(code, _vars(module))
    except BaseException as error:
        return explained(error)
    return ""


def stand_for_solution(module: ModuleType) -> None:
    """Whoever imports the solution gets this."""
    for name in (*NAMES, "__main__"):
        sys.modules[name] = module


def space_for_tests(
    module: ModuleType, asked: Collection[str], builtins: dict[str, Any]
) -> ModuleType:
    """The tests' module: it has the names of the solution, and built-in functions that really are.

    A solution may be called `sum`; one that brings an `abs` beside it, for its tests to use, may
    not. So such names count only if there is no other that the tests could be asking for."""
    own = {name: value for name, value in _vars(module).items() if name[:2] != "__"}
    hiding = [name for name in own if name in builtins]
    if [name for name in asked if name in own and name not in hiding]:
        for name in hiding:
            del own[name]
    space = _ModuleType("tests")
    space.__file__ = TESTS
    sys.modules["tests"] = space
    _vars(space).update(own, __builtins__=builtins)
    return space

"""The solution as a module."""

from __future__ import annotations

import sys

from _grading.verdicts import (  # type: ignore[import-not-found]  # it is there in the box
    SOLUTION,
    explained,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_exec, _compile, _vars, _open = exec, compile, vars, open

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
        return str(explained(error))
    return ""


def stand_for_solution(module: ModuleType) -> None:
    """Whoever imports the solution gets this."""
    for name in (*NAMES, "__main__"):
        sys.modules[name] = module

"""What came of one test, in words: its status, why, and where.

Built-in functions are taken now, before the solution can replace them.
"""

from __future__ import annotations

from _grading.channel import cut  # type: ignore[import-not-found]  # it is there in the box

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Work = Callable[[], object]

_str, _type, _isinstance = str, type, isinstance
_Failure, _SyntaxError = AssertionError, SyntaxError

SOLUTION, TESTS = "solution.py", "tests.py"


def verdict(work: Work) -> tuple[str, str, int]:
    """Do a test, and say what came of it: status, message, line."""
    try:
        work()
    except _Failure as error:
        return "failed", _message(error), line_in_tests(error)
    except BaseException as error:
        return "error", explained(error), line_in_tests(error)
    return "passed", "", 0


def explained(error: BaseException) -> str:
    """What went wrong, and the last place of it in the solution or in the tests."""
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename in (SOLUTION, TESTS):
            place = f" ({code.co_filename}, line {trace.tb_lineno})"
        trace = trace.tb_next
    try:
        said = cut(_str(error))
    except BaseException:
        said = "it cannot be shown"
    kind = _type(error).__name__
    if _isinstance(error, _SyntaxError):
        place = ""  # it says so itself
    return f"{kind}: {said}{place}" if said else f"{kind}{place}"


def line_in_tests(error: BaseException) -> int:
    """Where the tests were when this happened; 0 if they were not."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == TESTS:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _message(error: AssertionError) -> str:
    """An assert of the tests says itself what it has compared."""
    try:
        said = _str(error)
    except BaseException:
        said = ""
    return said if said[:7] == "assert " else explained(error)

"""Tests that are classes of unittest's."""

from __future__ import annotations

import unittest
from time import perf_counter

from _grading.asserts import fooled  # type: ignore[import-not-found]  # they are in the box
from _grading.verdicts import explained, line_in_tests  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

WATCHED = ("unittest",)

_equal = unittest.TestCase.assertEqual


def _assert_equal(self: Any, first: Any, second: Any, msg: Any = None) -> None:
    if fooled(first, second):
        kind = type(first).__name__
        self.fail(self._formatMessage(msg, f"{kind} says that it equals anything"))
    _equal(self, first, second, msg)


unittest.TestCase.assertEqual = _assert_equal  # type: ignore[method-assign]


def run(run: Any, groups: Iterable[str]) -> None:
    for group in groups:
        tests = list(unittest.defaultTestLoader.loadTestsFromTestCase(run.space.names[group]))
        run.channel.announce(group, [_name(test) for test in tests])
        unittest.TestSuite(tests).run(_Told(run, {_name(t) for t in tests if _may_fail(t)}))


def _name(test: Any) -> str:
    """`TestX.test_a`; of what stands around the tests of a class, `TestX.setUpClass`."""
    method = getattr(test, "_testMethodName", None)
    if method is not None:
        return f"{type(test).__name__}.{method}"
    around, _, owner = test.id().partition(" (")
    return f"{owner.rstrip(')').rpartition('.')[2]}.{around}"


def _is_marked(test: Any) -> bool:
    """Whether it is the tests that say that it is to be skipped."""
    method = getattr(type(test), getattr(test, "_testMethodName", ""), None)
    return any(getattr(one, "__unittest_skip__", False) for one in (type(test), method))


def _may_fail(test: Any) -> bool:
    method = getattr(type(test), getattr(test, "_testMethodName", ""), None)
    return any(getattr(it, "__unittest_expecting_failure__", False) for it in (type(test), method))


class _Told(unittest.TestResult):
    def __init__(self, run: Any, may_fail: set[str]) -> None:
        super().__init__()
        self._run = run
        self._may_fail = may_fail  # as they were, before any of them has run
        self._said: dict[str, tuple[str, str, int]] = {}
        self._begin = 0.0

    def startTest(self, test: Any) -> None:
        self._run.restore()
        self._said.pop(_name(test), None)
        self._run.channel.started(_name(test))
        self._begin = perf_counter()
        super().startTest(test)

    def stopTest(self, test: Any) -> None:
        super().stopTest(test)
        name = _name(test)
        status, message, line = self._said.get(name, ("error", "it did not come to its end", 0))
        ms = (perf_counter() - self._begin) * 1000
        self._run.channel.report(name, status, message, line, ms)

    def _say(self, test: Any, status: str, message: str = "", line: int = 0) -> None:
        """The worst that is said of a test stands."""
        name = _name(test)
        if self._said.get(name, ("passed",))[0] == "passed":
            self._said[name] = (status, message, line)

    def addSuccess(self, test: Any) -> None:
        self._say(test, "passed")

    def addFailure(self, test: Any, err: Any) -> None:
        self._say(test, "failed", str(err[1]) or "AssertionError", line_in_tests(err[1]))

    def addError(self, test: Any, err: Any) -> None:
        if getattr(test, "_testMethodName", None) is None:  # setUpClass, and what is like it
            self._run.channel.report(_name(test), "error", explained(err[1]), line_in_tests(err[1]))
        else:
            self._say(test, "error", explained(err[1]), line_in_tests(err[1]))

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            add = self.addFailure if issubclass(err[0], test.failureException) else self.addError
            add(test, err)

    def addSkip(self, test: Any, reason: str) -> None:
        if _is_marked(test):
            self._say(test, "skipped", reason)
        else:
            self._say(test, "error", f"it has skipped itself: {reason}")

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        if _name(test) in self._may_fail:
            self._say(test, "passed")
        else:
            self.addFailure(test, err)

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._say(test, "failed", "it was expected to fail")

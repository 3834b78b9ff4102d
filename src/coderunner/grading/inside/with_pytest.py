"""Tests that need pytest: fixtures, parameters, classes. It gets a module that is loaded already,
and neither a configuration nor plugins of anybody."""

from __future__ import annotations

import os
import tempfile
import unittest

import pytest
from _grading.verdicts import (  # type: ignore[import-not-found]  # it is there in the box
    explained,
    line_in_tests,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

WATCHED = ("pytest", "_pytest", "pluggy", "unittest", "contextlib", "os")

_hasattr = hasattr

_OPTIONS = ("--noconftest", "-p", "no:cacheprovider", "-p", "no:terminal", "-c", os.devnull)


def run(run: Any, groups: Collection[str]) -> None:
    run.restore()
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        del os.environ[name]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tests.py")
        with open(path, "w"):
            pass  # pytest wants to see a file
        arguments = [*_OPTIONS, f"--rootdir={folder}", "--capture=no", path]
        pytest.main(arguments, plugins=[_Plugin(run, groups)])


def _name(nodeid: str) -> str:
    return ".".join(nodeid.split("::")[1:])


def _is_unittest(item: Any) -> bool:
    """These are run by unittest."""
    return isinstance(item.parent.obj, type) and issubclass(item.parent.obj, unittest.TestCase)


def _may_fail(item: Any) -> bool:
    by_unittest = (item.obj, item.parent.obj)
    return item.get_closest_marker("xfail") is not None or any(
        getattr(it, "__unittest_expecting_failure__", False) for it in by_unittest
    )


def _group(name: str) -> str:
    return name.partition(".")[0].partition("[")[0]


class _Plugin:
    def __init__(self, run: Any, groups: Collection[str]) -> None:
        self._run = run
        self._groups = groups
        self._errors: dict[tuple[str, str], BaseException] = {}
        self._said: dict[str, tuple[str, str, int]] = {}
        self._ms: dict[str, float] = {}
        self._may_fail: set[str] = set()  # as they were, before any of them has run
        self._went_well: set[str] = set()

    def pytest_pycollect_makemodule(self, module_path: Any, parent: Any) -> Any:
        space = self._run.space.module

        class Loaded(pytest.Module):
            def _getobj(self) -> Any:
                return space

        return Loaded.from_parent(parent, path=module_path)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """The solution may have functions that are called so, too."""
        items[:] = [item for item in items if _group(_name(item.nodeid)) in self._groups]
        self._may_fail.update(item.nodeid for item in items if _may_fail(item))
        self._went_well.update(item.nodeid for item in items if _is_unittest(item))
        for group in self._groups:
            names = [_name(item.nodeid) for item in items]
            self._run.channel.announce(group, [name for name in names if _group(name) == group])

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._run.channel.report(_name(report.nodeid), "error", str(report.longrepr))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._run.restore()
        self._run.channel.started(_name(nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool:
        """Here, and not by pytest: it would not wait for async functions, and what it remembers of
        a failure may be forgotten on the way."""
        names = pyfuncitem._fixtureinfo.argnames
        result = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
        if _hasattr(result, "__await__"):
            import asyncio

            asyncio.run(result)
        self._went_well.add(pyfuncitem.nodeid)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        of_unittest = getattr(item, "_excinfo", None) or [None]
        raised = call.excinfo or of_unittest[0]
        if raised is not None:
            self._errors[item.nodeid, call.when] = raised.value

    def pytest_runtest_logreport(self, report: Any) -> None:
        name, error = report.nodeid, self._errors.pop((report.nodeid, report.when), None)
        self._ms[name] = self._ms.get(name, 0.0) + report.duration * 1000
        said = self._verdict(report, error)
        if said[0] != "passed" and name not in self._said:
            self._said[name] = said
        if report.when == "teardown":
            said = self._said.pop(name, ("passed", "", 0))
            self._run.channel.report(_name(name), *said, self._ms.pop(name))

    def _verdict(self, report: Any, error: Any) -> tuple[str, str, int]:
        if report.when == "call" and report.nodeid not in self._may_fail:
            if isinstance(error, pytest.xfail.Exception):
                return "error", f"it says itself that it fails: {error}", line_in_tests(error)
            if report.outcome == "passed" and report.nodeid not in self._went_well:
                return "error", "it did not come to its end", 0
        if report.outcome == "passed" or hasattr(report, "wasxfail"):
            return "passed", "", 0
        if report.outcome == "skipped":
            if report.when == "setup":
                return "skipped", str(error), 0
            return "error", f"it has skipped itself: {error}", line_in_tests(error)
        if error is None:
            return "failed", str(report.longrepr), 0
        if isinstance(error, (AssertionError, pytest.fail.Exception)) and report.when == "call":
            return "failed", str(error) or "AssertionError", line_in_tests(error)
        return "error", explained(error), line_in_tests(error)

"""Grading: code and its tests go in, how many passed comes out.

from coderunner.grading import TestRunner
from coderunner.sandbox import Sandbox

TestRunner(Sandbox(timeout=10)).run_tests(user_code, test_code).passed

test_runner.py   TestRunner
result.py        its TestResult
plan.py          which tests there are, known before anything runs
together.py      in one box
apart.py         tests and code in a box each
harness.py       the files that a box needs for it
reports.py       what comes back from the box, and what of it is genuine
printed.py       what was printed, and during which test
conclusion.py    from reports and the end of the run to a result
inside/          what runs in the box
"""

from __future__ import annotations

from coderunner.grading.result import TestResult
from coderunner.grading.test_runner import TestRunner

__all__ = ["TestResult", "TestRunner"]

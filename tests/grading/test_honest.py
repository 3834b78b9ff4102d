"""Honest solutions (`honest/`), with whatever the library does behind their backs: frames, threads,
code made at run time. None of it is taken for an attempt to reach into the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner.grading import TestRunner

pytestmark = pytest.mark.engines

PROGRAMS = sorted(Path(__file__).parent.joinpath("honest").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=[path.stem for path in PROGRAMS])
def test_it_passes(runner: TestRunner, program: Path) -> None:
    tests = "assert f() == 1\ndef test_f():\n    assert f() == 1\n"
    result = runner.run_tests(program.read_text(), tests)
    assert (result.passed, result.failed, result.errors) == (2, 0, 0), result.details

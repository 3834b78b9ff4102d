"""Grading with an interpreter that has pytest: the one that runs these tests."""

from __future__ import annotations

import json
import sys

import pytest

from coderunner.grading import TestRunner
from coderunner.sandbox import Sandbox
from tests.support import require_sandbox

SEPARATE = pytest.mark.parametrize("separate", [False, True], ids=["together", "apart"])


@pytest.fixture(autouse=True)
def _with_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    require_sandbox()
    monkeypatch.setenv("CODERUNNER_TOOLCHAINS", json.dumps({"python": sys.executable}))


@pytest.fixture
def sandbox() -> Sandbox:
    # With an isolation of its own it reads the settings anew, and so finds that interpreter.
    return Sandbox(timeout=20, min_isolation="sampled")


@pytest.fixture(params=[False, True], ids=["together", "apart"])
def runner(request: pytest.FixtureRequest, sandbox: Sandbox) -> TestRunner:
    """In one box and in two: what comes out is the same."""
    return TestRunner(sandbox, separate=request.param)

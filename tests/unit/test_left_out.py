"""The suite's own rules: what is left out is told, and in CI nothing is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import IS_ROOT, ROOT

SUITE = """
import pytest
from tests.support import leave_out

def test_that_passes(): ...
def test_that_needs_cobol(): leave_out("no COBOL here", fix="apt-get install gnucobol")
@pytest.mark.as_root
def test_for_root(): ...
@pytest.mark.as_user
def test_for_a_user(): ...
@pytest.mark.xfail(reason="known")
def test_expected_to_fail(): raise AssertionError
"""

SKIPS_ITS_MODULE = "import pytest; pytest.importorskip('a_module_that_is_not_there')"

pytestmark = pytest.mark.unit


def run_suite(folder: Path, source: str, **environment: str) -> subprocess.CompletedProcess[str]:
    suite = folder / "test_suite.py"
    suite.write_text(source)
    own_environment = {key: value for key, value in os.environ.items() if key != "CI"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "tests.conftest"]
    return subprocess.run(
        [*command, f"--rootdir={ROOT}", f"--config-file={ROOT / 'pyproject.toml'}", suite],
        env=own_environment | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_outside_ci_it_is_skipped_and_told(tmp_path: Path) -> None:
    suite = run_suite(tmp_path, SUITE)
    assert suite.returncode == 0
    assert "2 passed, 1 skipped, 1 deselected, 1 xfailed" in suite.stdout
    assert "1 x no COBOL here" in suite.stdout
    assert "run: apt-get install gnucobol" in suite.stdout


def test_what_is_meant_for_somebody_else_is_told(tmp_path: Path) -> None:
    suite = run_suite(tmp_path, SUITE)
    who, how = ("an ordinary user", "make test-user") if IS_ROOT else ("root", "sudo make test")
    assert f"1 x meant for {who}" in suite.stdout
    assert f"run: {how}" in suite.stdout


def test_in_ci_it_fails(tmp_path: Path) -> None:
    suite = run_suite(tmp_path, SUITE, CI="true")
    assert suite.returncode == 1
    assert "1 failed, 2 passed, 1 deselected, 1 xfailed" in suite.stdout
    assert "CI leaves nothing out: no COBOL here (fix: apt-get install gnucobol)" in suite.stdout


def test_in_ci_a_module_cannot_skip_itself(tmp_path: Path) -> None:
    assert run_suite(tmp_path, SKIPS_ITS_MODULE).returncode == 5  # nothing was run
    suite = run_suite(tmp_path, SKIPS_ITS_MODULE, CI="true")
    assert suite.returncode not in {0, 5}
    assert "CI leaves nothing out" in suite.stdout

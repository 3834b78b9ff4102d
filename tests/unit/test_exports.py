"""The public names. Who adds or removes one does it here, on purpose."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import pytest

import coderunner

pytestmark = pytest.mark.unit

PUBLIC = [
    "AccessDenied",
    "AsyncClient",
    "Build",
    "Busy",
    "Client",
    "CodeRunnerError",
    "EndedBy",
    "EngineUnavailable",
    "File",
    "InvalidInput",
    "InvalidLanguageFile",
    "InvalidLimits",
    "InvalidProgram",
    "InvalidSettings",
    "Isolation",
    "IsolationTooLow",
    "Limits",
    "Outcome",
    "Output",
    "Program",
    "Result",
    "Runner",
    "Settings",
    "StartFailed",
    "Stream",
    "Terminal",
    "ToolchainMissing",
    "UnknownLanguage",
    "Usage",
    "run",
]


def test_public_names() -> None:
    assert sorted(coderunner.__all__) == sorted(PUBLIC)
    for name in PUBLIC:
        assert hasattr(coderunner, name)


def test_version() -> None:
    assert coderunner.__version__ == importlib.metadata.version("coderunner")


def test_who_runs_programs_here_does_not_load_the_client() -> None:
    code = (
        "import sys, coderunner; coderunner.Client; coderunner.run; print('httpx' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

"""The public names. Who adds or removes one does it here, on purpose."""

from __future__ import annotations

import importlib.metadata

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

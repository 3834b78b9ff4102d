"""CodeRunner runs code that nobody trusts yet, safely and fast, and reports the facts.

from coderunner import run

result = run("print(6 * 7)", language="python")
assert result.stdout == "42\\n"
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coderunner.build import Build
    from coderunner.client.asynchronous import AsyncClient
    from coderunner.client.blocking import Client
    from coderunner.errors import (
        AccessDenied,
        Busy,
        CodeRunnerError,
        EngineUnavailable,
        InvalidInput,
        InvalidLanguageFile,
        InvalidLimits,
        InvalidProgram,
        InvalidSettings,
        IsolationTooLow,
        StartFailed,
        ToolchainMissing,
        UnknownLanguage,
    )
    from coderunner.model import (
        EndedBy,
        File,
        Isolation,
        Limits,
        Outcome,
        Output,
        Program,
        Result,
        Stream,
        Terminal,
        Usage,
    )
    from coderunner.runner import Runner
    from coderunner.settings import Settings
    from coderunner.simple import run

__version__ = "0.1.0"

__all__ = [
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

# Where the names are, the quick modules first. Imported when first used: `coderunner --help`
# should not wait for a sandbox.
_MODULES = (
    "errors", "model", "settings", "build", "runner", "simple",
    "client.blocking", "client.asynchronous",
)  # fmt: skip


def __getattr__(name: str) -> object:
    if name in __all__:
        for module in map(import_module, (f"{__name__}.{module}" for module in _MODULES)):
            if hasattr(module, name):
                globals()[name] = getattr(module, name)
                return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

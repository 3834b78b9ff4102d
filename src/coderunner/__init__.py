"""CodeRunner runs code that nobody trusts yet, safely and fast, and reports the facts.

from coderunner import run

result = run("print(6 * 7)", language="python")
assert result.stdout == "42\\n"
"""

from coderunner.errors import (
    CodeRunnerError,
    EngineUnavailable,
    InvalidInput,
    InvalidLanguageFile,
    InvalidLimits,
    InvalidProgram,
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
    Usage,
)
from coderunner.runner import Build, Runner
from coderunner.settings import Settings
from coderunner.simple import run

__version__ = "0.1.0"

__all__ = [
    "Build",
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
    "ToolchainMissing",
    "UnknownLanguage",
    "Usage",
    "run",
]

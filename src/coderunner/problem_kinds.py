"""The library's errors as a service names them, and back again: the `type` of a problem is
`urn:coderunner:` and one of these kinds."""

from __future__ import annotations

from coderunner.errors import (
    CodeRunnerError,
    EngineUnavailable,
    InvalidInput,
    InvalidLimits,
    InvalidProgram,
    IsolationTooLow,
    JudgeFailed,
    StartFailed,
    ToolchainMissing,
    UnknownLanguage,
)

PREFIX = "urn:coderunner:"
# The first that fits is taken, so the root of the tree is last.
_KINDS: tuple[tuple[type[CodeRunnerError], int, str], ...] = (
    (UnknownLanguage, 404, "unknown-language"),
    (InvalidLimits, 422, "invalid-limits"),
    (InvalidProgram, 422, "invalid-program"),
    (InvalidInput, 422, "invalid-input"),
    (ToolchainMissing, 501, "language-not-installed"),
    (IsolationTooLow, 503, "isolation-too-low"),
    (EngineUnavailable, 503, "engine-unavailable"),
    (StartFailed, 422, "not-started"),  # with these limits, or this environment
    (JudgeFailed, 500, "judge-failed"),
    (CodeRunnerError, 500, "failed"),
)
_ERRORS = {kind: error for error, _, kind in _KINDS}


def status_and_kind(error: CodeRunnerError) -> tuple[int, str]:
    return next((status, kind) for one, status, kind in _KINDS if isinstance(error, one))


def error_of(kind: str) -> type[CodeRunnerError] | None:
    """None for a problem that the library alone does not have."""
    return _ERRORS.get(kind)

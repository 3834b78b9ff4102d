"""What a service says when it does not do what it was asked, as the library's error."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from coderunner.errors import (
    AccessDenied,
    Busy,
    CodeRunnerError,
    EngineUnavailable,
    InvalidInput,
)
from coderunner.problem_kinds import PREFIX, error_of
from coderunner.settings.environment import TOKEN

_LONGEST = 4000
_BUSY = ("busy", "too-many-at-once", "too-often")  # of those whose answer has begun already
_SOON_S = 1.0
_NO_PROBLEM = "what answers there may be no CodeRunner service, or a proxy in front of one"
_BY_STATUS: dict[int, type[CodeRunnerError]] = {
    401: AccessDenied,
    403: AccessDenied,
    421: AccessDenied,
    404: EngineUnavailable,
    409: InvalidInput,
    410: InvalidInput,
    413: InvalidInput,
    422: InvalidInput,
}
_HINTS = {
    401: f"pass a token, or set {TOKEN}; `coderunner token` makes one where the service runs",
    413: "send less, or let the service take more: server.v1_body_kb",
}


def refusal(status: int, headers: Mapping[str, str], body: bytes) -> CodeRunnerError:
    problem = _problem(body)
    if problem is None:
        return EngineUnavailable(
            f"the service has answered with status {status}", hint=_HINTS.get(status, _NO_PROBLEM)
        )
    return of_problem(problem, status, _retry_after(headers))


def of_problem(
    problem: Mapping[str, Any], status: int = 0, retry_s: float | None = None
) -> CodeRunnerError:
    """`retry_s`: when the same request may be worth another try."""
    status = status or _number(problem.get("status"))
    kind = str(problem.get("type", "")).removeprefix(PREFIX)
    detail = _safe(problem.get("detail")) or f"the service has answered with status {status}"
    hint = _HINTS.get(status) or _safe(problem.get("hint"))
    if retry_s is not None or kind in _BUSY:
        return Busy(detail, hint=hint or "try again later", retry_s=retry_s or _SOON_S)
    error = error_of(kind) or _BY_STATUS.get(status, EngineUnavailable)
    return error(detail, hint=hint)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _problem(body: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and "detail" in found else None


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _safe(text: object) -> str:
    """It may be shown in a terminal, and who knows who has written it."""
    if not isinstance(text, str):
        return ""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text[:_LONGEST])

"""What is asked and answered in one go."""

from __future__ import annotations

from coderunner.answers import HealthAnswer, LanguageAnswer, LanguagesAnswer
from coderunner.client.exchange import ask, understood, whole
from coderunner.client.steps import Send, Talk
from coderunner.judge import ExecutionRequest, ExecutionResult, View
from coderunner.judge.as_json import read

_COMPILING_S = 60
_TO_SPARE_S = 60  # for its turn to come, and for all else
_QUICK_S = 30


def health() -> Talk[HealthAnswer]:
    yield from ask(Send("GET", "/health", silence_s=_QUICK_S))
    return understood(HealthAnswer.model_validate_json, (yield from whole()))


def languages() -> Talk[list[LanguageAnswer]]:
    """The first to ask waits until all toolchains were looked at."""
    yield from ask(Send("GET", "/v1/languages", silence_s=_COMPILING_S))
    return understood(LanguagesAnswer.model_validate_json, (yield from whole())).languages


def judge(request: ExecutionRequest, view: View) -> Talk[ExecutionResult]:
    silence_s = request.total_timeout_ms / 1000 + _COMPILING_S + _TO_SPARE_S
    path = f"/v1/judge?view={view.value}"
    yield from ask(Send("POST", path, request.to_json().encode(), silence_s=silence_s))
    return understood(lambda body: read(ExecutionResult, body), (yield from whole()))

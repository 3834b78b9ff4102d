"""`POST /v1/judge`: the judge's request and result, as `docs/schemas` has them.

A submission has one turn, in which its tests run one after the other. If each test had to wait for
a turn of its own, what else the service has to do would count against `total_timeout_ms`, and a
submission could be sent away when it is half judged: the result would depend on the load. A turn
takes no longer than the longest run may.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from pydantic import BeforeValidator

from coderunner.cancelling import in_thread
from coderunner.errors import InvalidInput, InvalidLimits
from coderunner.judge import ExecutionRequest, ExecutionResult, View
from coderunner.judge.as_json import from_object
from coderunner.judge.judging import judged
from coderunner.judge.validation import problem
from coderunner.model import Limits
from coderunner.server.ceiling import SETTING, ceiling_of
from coderunner.server.problems import ProblemDetails
from coderunner.server.reading import JsonRoute
from coderunner.server.service import ClientGone, Service, service_of, while_connected
from coderunner.settings.server import ServerSettings

_GONE = 499  # nobody reads it; what proxies write into their logs then
_KB = 1024
_LARGE_KB = 256

_EXAMPLE = {
    "request_id": "42",
    "language": "python",
    "code": "print(sum(map(int, input().split())))",
    "test_cases": [
        {"id": "sample", "input": "1 2", "expected_output": "3"},
        {"id": "secret", "input": "20 22", "expected_output": "42", "is_hidden": True},
    ],
}


def _read(value: object) -> object:
    """As the library reads it from JSON, which is stricter than what Python's types allow."""
    return from_object(ExecutionRequest, value)


Submission = Annotated[ExecutionRequest, BeforeValidator(_read)]
_ANSWERS: dict[int | str, dict[str, Any]] = {
    404: {"model": ProblemDetails, "description": "There is no such language."},
    501: {"model": ProblemDetails, "description": "The language is not installed here."},
}
router = APIRouter(prefix="/v1", route_class=JsonRoute, tags=["judge"])


@router.post(
    "/judge",
    summary="Judge a program",
    response_model=ExecutionResult,
    responses=_ANSWERS,
    openapi_extra={"requestBody": {"content": {"application/json": {"example": _EXAMPLE}}}},
)
async def judge(
    asked: Submission,
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    view: Annotated[
        View, Query(description="author: nothing of hidden tests; grader: everything")
    ] = View.AUTHOR,
) -> Response:
    """Run a program against test cases, and say of each whether it passed.

    The tests run one after the other, whatever `parallel` says. Code that does not compile, fails
    or is wrong is a good answer, with a `status` that says so. With `view=author` it may be shown
    to whoever wrote the code: nothing of hidden tests is in it."""
    _check(asked, service)
    name = service.runner.languages.get(asked.language_name).name
    alone = replace(asked, parallel=1, metadata={})  # which is the caller's, and may be large

    async def in_turn() -> ExecutionResult:
        return await service.serve(request, name, lambda: judged(service.runner, alone))

    try:
        result = await while_connected(request, in_turn())
    except ClientGone:
        return Response(status_code=_GONE)
    return Response(await _written(asked, result, view), media_type="application/json")


async def _written(asked: ExecutionRequest, result: ExecutionResult, view: View) -> str:
    shown = result if view is View.GRADER else result.for_author()
    if len(asked.test_cases) * asked.keep_output_kb < _LARGE_KB:
        return shown.to_json()
    return await in_thread(shown.to_json)


def _check(asked: ExecutionRequest, service: Service) -> None:
    """Before it waits for its turn."""
    if found := problem(asked):
        raise InvalidInput(found)
    _check_amount(asked, service.settings.server)
    for name, value, limit, most in _limits(asked, ceiling_of(service.settings)):
        if most is not None and value > most:
            raise InvalidLimits(
                f"{name}={value} is above the configured ceiling of {most}",
                hint=f"ask for less, or set {SETTING}__{limit.upper()}",
            )


def _check_amount(asked: ExecutionRequest, mine: ServerSettings) -> None:
    """So that neither the tests nor what is kept of them is more than we have room for."""
    count = len(asked.test_cases)
    if count > mine.judge_tests:
        raise InvalidInput(
            f"test_cases: {count} are more than {mine.judge_tests}",
            hint="send them in parts, or set CODERUNNER_SERVER__JUDGE_TESTS",
        )
    if count * asked.keep_output_kb > mine.answer_kb:
        raise InvalidLimits(
            f"keep_output_kb={asked.keep_output_kb} of {count} tests is more than an answer has "
            f"room for ({mine.answer_kb} KB)",
            hint=f"ask for at most {max(1, mine.answer_kb // count)}",
        )


def _limits(asked: ExecutionRequest, ceiling: Limits) -> list[tuple[str, float, str, float | None]]:
    """What was asked for, and the most of it."""
    times = [
        (f"timeout_ms of test case {test.id!r:.80}", test.timeout_ms)
        for test in asked.test_cases
        if test.timeout_ms is not None
    ]
    of_all = [("timeout_ms", asked.timeout_ms), ("total_timeout_ms", asked.total_timeout_ms)]
    return [
        *((name, value, "wall_ms", ceiling.wall_ms) for name, value in (*of_all, *times)),
        ("memory_limit_mb", asked.memory_limit_mb, "memory_mb", ceiling.memory_mb),
        ("cpu_limit", asked.cpu_limit, "cpus", ceiling.cpus),
        (
            "output_limit_kb",
            asked.output_limit_kb,
            "flood_bytes",
            ceiling.flood_bytes // _KB,
        ),
    ]

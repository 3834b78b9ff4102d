"""`POST /v1/run`: one program, with all that belongs to it."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import BeforeValidator

from coderunner.answers import RunAnswer
from coderunner.model import Result
from coderunner.server.event_stream import MEDIA_TYPE, event_stream, wants_events
from coderunner.server.problems import ProblemDetails
from coderunner.server.reading import JsonRoute, read_as
from coderunner.server.service import ClientGone, Service, service_of, while_connected
from coderunner.server.v1.asked import RunRequest
from coderunner.server.v1.carrying import answer_to, carry_out, written
from coderunner.server.v1.following import Follower, follow
from coderunner.server.v1.order import Order, order_of
from coderunner.toolchain import Toolchain

_GONE = 499  # nobody reads it; what proxies write into their logs then
_EVENTS = """event: queued
data: {}

event: started
data: {}

event: stdout
data: {"data": "desserts\\n"}

event: end
data: {"result": {"language": "python", "ok": true, …}}
"""
_EXAMPLE = {
    "language": "python",
    "code": "print(input()[::-1], file=open('result.txt', 'w'))",
    "stdin": "stressed",
    "limits": {"wall_ms": 1000, "memory_mb": 128},
    "collect": ["*.txt"],
}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "What happened; or events, if you accept `text/event-stream`",
        "content": {MEDIA_TYPE: {"schema": {"type": "string"}, "example": _EVENTS}},
    },
    404: {"model": ProblemDetails, "description": "There is no such language."},
    501: {"model": ProblemDetails, "description": "The language is not installed here."},
}
router = APIRouter(prefix="/v1", route_class=JsonRoute, tags=["run"])


@router.post(
    "/run",
    summary="Run a program",
    response_model=RunAnswer,
    responses=_ANSWERS,
    openapi_extra={"requestBody": {"content": {"application/json": {"example": _EXAMPLE}}}},
)
async def run(
    asked: Annotated[RunRequest, BeforeValidator(partial(read_as, RunRequest))],
    request: Request,
    service: Annotated[Service, Depends(service_of)],
) -> Response:
    """Run a program in a sandbox of its own, and wait for its end.

    A program that fails is a good answer: look at `ok`, `exit_code` and `ended_by`. If you hang up,
    it is killed.

    With `Accept: text/event-stream` it is told live, one JSON object per event: `queued`,
    `compiled` (how that went), `started`, `stdout` and `stderr` (`data` is text; if that is not
    exact, the bytes are there as `base64`), `end` with the `result`. Who reads slowly does not slow
    the program down: what does not fit is dropped, and an event `dropped` says of which stream how
    many bytes. If the service fails on the way, the last event is `error`, with a `problem`."""
    order = order_of(asked, service)
    try:
        if not wants_events(request.headers.get("accept", "")):
            return await while_connected(request, _at_once(service, request, order))
        mine = service.settings.server
        events = follow(
            lambda follower: _followed(service, request, order, follower),
            answer_to,
            most_bytes=mine.stream_kb * 1024,
        )
        return await event_stream(request, events, mine.heartbeat_seconds)
    except ClientGone:
        return Response(status_code=_GONE)


async def _at_once(service: Service, request: Request, order: Order) -> Response:
    result, toolchain = await service.serve(
        request, order.language.name, lambda: carry_out(service, order)
    )
    return Response(await written(result, toolchain), media_type="application/json")


async def _followed(
    service: Service, request: Request, order: Order, follower: Follower
) -> tuple[Result, Toolchain]:
    async def work() -> tuple[Result, Toolchain]:
        await service.runner.toolchains.find(order.language)  # or there is nothing to follow
        follower.on_its_way.set()
        return await carry_out(
            service,
            order,
            sink=follower,
            compiled=follower.compiled,
            started=follower.started,
        )

    return await service.serve(request, order.language.name, work)

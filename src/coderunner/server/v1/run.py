"""`POST /v1/run`: one program, with all that belongs to it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from coderunner.answers import RunAnswer
from coderunner.server.problems import ProblemDetails
from coderunner.server.reading import JsonRoute
from coderunner.server.service import ClientGone, Service, service_of, while_connected
from coderunner.server.v1.asked import RunRequest
from coderunner.server.v1.carrying import carry_out, written
from coderunner.server.v1.order import Order, order_of

_GONE = 499  # nobody reads it; what proxies write into their logs then

router = APIRouter(route_class=JsonRoute, tags=["run"])


@router.post("/run", response_model=RunAnswer, responses={422: {"model": ProblemDetails}})
async def run(
    asked: RunRequest,
    request: Request,
    service: Annotated[Service, Depends(service_of)],
) -> Response:
    """Run a program in a sandbox of its own, and wait for its end."""
    order = order_of(asked, service)
    try:
        return await while_connected(request, _at_once(service, request, order))
    except ClientGone:
        return Response(status_code=_GONE)


async def _at_once(service: Service, request: Request, order: Order) -> Response:
    result, toolchain = await service.serve(
        request, order.language.name, lambda: carry_out(service, order)
    )
    return Response(await written(result, toolchain), media_type="application/json")

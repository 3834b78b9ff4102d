"""`/v1/sessions`: an interpreter that stays, and cells that are run in it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from coderunner.notebook import CellResult
from coderunner.server.door import CLIENT
from coderunner.server.event_stream import MEDIA_TYPE, EventStream, wants_events
from coderunner.server.outbox import Event
from coderunner.server.problems import ProblemDetails
from coderunner.server.reading import JsonRoute
from coderunner.server.service import ClientGone, Service, service_of, while_connected
from coderunner.server.v1.sessions.cells import follow
from coderunner.server.v1.sessions.limits import kernel_for, limits_for
from coderunner.server.sessions.open_session import OpenSession, Turn
from coderunner.server.v1.sessions.shapes import (
    CellRequest,
    SessionInfo,
    SessionList,
    SessionRequest,
)

_GONE = 499  # nobody reads it; what proxies write into their logs then


class Caller:
    """Who asks, and for which of his sessions."""

    def __init__(
        self, request: Request, service: Annotated[Service, Depends(service_of)]
    ) -> None:
        self.request = request
        self.service = service
        self.client: str = request.scope[CLIENT]

    def turn(self) -> AbstractAsyncContextManager[None]:
        return self.service.slots.slot(self.client)


Me = Annotated[Caller, Depends()]


def _session(id: str, me: Me) -> OpenSession:
    return me.service.sessions.get(id, me.client)


Mine = Annotated[OpenSession, Depends(_session)]
_OF_ONE = {
    404: {"model": ProblemDetails, "description": "You have no session of this id."},
    410: {"model": ProblemDetails, "description": "The session is over."},
}
_BUSY = {
    409: {"model": ProblemDetails, "description": "Something else runs in it."},
    429: {"model": ProblemDetails, "description": "You ask too much at once."},
    503: {"model": ProblemDetails, "description": "The service is busy."},
}
router = APIRouter(prefix="/v1/sessions", route_class=JsonRoute, tags=["sessions"])

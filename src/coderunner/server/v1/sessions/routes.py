"""`/v1/sessions`: an interpreter that stays, and cells that are run in it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from coderunner.notebook import CellResult
from coderunner.server.door import CLIENT
from coderunner.server.event_stream import MEDIA_TYPE, event_stream, wants_events
from coderunner.server.problems import ProblemDetails
from coderunner.server.reading import JsonRoute
from coderunner.server.service import ClientGone, Service, service_of, while_connected
from coderunner.server.sessions.open_session import OpenSession
from coderunner.server.v1.sessions.cells import follow_cell
from coderunner.server.v1.sessions.order import order_of
from coderunner.server.v1.sessions.shapes import (
    CellRequest,
    SessionInfo,
    SessionList,
    SessionRequest,
)

_GONE = 499  # nobody reads it; what proxies write into their logs then


class Caller:
    """Who asks, and for which of his sessions."""

    def __init__(self, request: Request, service: Annotated[Service, Depends(service_of)]) -> None:
        self.request = request
        self.service = service
        self.client: str = request.scope[CLIENT]

    def turn(self) -> AbstractAsyncContextManager[None]:
        return self.service.slots.slot(self.client)


Me = Annotated[Caller, Depends()]


def _session(id: str, me: Me) -> OpenSession:
    return me.service.sessions.get(id, me.client)


Mine = Annotated[OpenSession, Depends(_session)]
_Answers = dict[int | str, dict[str, Any]]
_OF_ONE: _Answers = {
    404: {"model": ProblemDetails, "description": "You have no session of this id."},
    410: {"model": ProblemDetails, "description": "The session is over."},
}
_BUSY: _Answers = {
    409: {"model": ProblemDetails, "description": "Something else runs in it."},
    429: {"model": ProblemDetails, "description": "You ask too much at once."},
    503: {"model": ProblemDetails, "description": "The service is busy."},
}
_EVENTS = """event: queued
data: {}

event: started
data: {}

event: stdout
data: {"data": "1.4142\\n"}

event: end
data: {"result": {"success": true, …}}
"""
router = APIRouter(prefix="/v1/sessions", route_class=JsonRoute, tags=["sessions"])


@router.post("", status_code=201, response_model=SessionInfo, responses=_BUSY)
async def open_session(asked: SessionRequest, me: Me) -> Response | SessionInfo:
    """Start an interpreter that stays. It ends when you delete it, when nobody has used it for
    `idle_seconds`, and with the service."""
    wanted = order_of(asked, me.service)
    try:
        opened = await while_connected(
            me.request, me.service.sessions.open(me.client, wanted, me.turn)
        )
    except ClientGone:
        return Response(status_code=_GONE)
    return SessionInfo.of(opened)


@router.get("")
async def list_sessions(me: Me) -> SessionList:
    """Your sessions."""
    mine = me.service.sessions.of(me.client)
    return SessionList(sessions=[SessionInfo.of(session) for session in mine])


@router.get("/{id}", responses=_OF_ONE)
async def show_session(session: Mine) -> SessionInfo:
    """One of yours, as it is now."""
    return SessionInfo.of(session)


@router.post(
    "/{id}/cells",
    response_model=CellResult,
    responses={
        200: {
            "description": "What came of it; or events, if you accept `text/event-stream`",
            "content": {MEDIA_TYPE: {"example": _EVENTS}},
        },
        **_OF_ONE,
        **_BUSY,
    },
)
async def run_cell(asked: CellRequest, session: Mine, me: Me) -> Response | CellResult:
    """Run a cell. Cells of a session run one after the other: `409` says that another one runs.

    Errors of the code are part of a good answer, also those that end the interpreter: `alive` is
    false then, and a restart brings another one. If you hang up, the cell is interrupted."""
    try:
        if not wants_events(me.request.headers.get("accept", "")):
            return await while_connected(me.request, session.run(asked.code, me.turn))
        mine = me.service.settings.server
        events = follow_cell(session, asked.code, me.turn, most_bytes=mine.stream_kb * 1024)
        return await event_stream(me.request, events, mine.heartbeat_seconds)
    except ClientGone:
        return Response(status_code=_GONE)


@router.post("/{id}/interrupt", status_code=204, responses=_OF_ONE)
async def interrupt_session(session: Mine) -> None:
    """As Ctrl-C does: the cell that runs ends with a `KeyboardInterrupt`. If none runs, nothing
    happens."""
    await session.interrupt()


@router.post("/{id}/restart", responses={**_OF_ONE, **_BUSY})
async def restart_session(session: Mine, me: Me) -> SessionInfo:
    """A fresh interpreter with fresh files. A cell that runs is ended by that."""
    await session.restart(me.turn)
    return SessionInfo.of(session)


@router.delete("/{id}", status_code=204, responses=_OF_ONE)
async def end_session(session: Mine, me: Me) -> None:
    """Nothing is left of it. A cell that runs is ended by that."""
    await me.service.sessions.end(session, "you have ended it")

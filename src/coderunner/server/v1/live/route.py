"""`GET /v1/live`: who may talk to a program, and what ends that."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Annotated, NoReturn

from fastapi import APIRouter, Depends, WebSocket
from starlette.websockets import WebSocketDisconnect

from coderunner.cancelling import cancel
from coderunner.server.admission import SUBPROTOCOL
from coderunner.server.door import CLIENT
from coderunner.server.problems import Problem, problem_of
from coderunner.server.service import ClientGone, Service, service_of
from coderunner.server.v1.live.messages import LiveRequest, program_in, said_in
from coderunner.server.v1.live.talk import Talk

_NORMAL = 1000
_NOT_JSON = 1007
_POLICY = 1008
_FAILED = 1011
_TRY_LATER = 1013
_CODES = {400: _NOT_JSON, 429: _TRY_LATER, 503: _TRY_LATER, 500: _FAILED}
_LONGEST_REASON = 120  # bytes, as the protocol has it

router = APIRouter(prefix="/v1")


@router.websocket("/live")
async def live(socket: WebSocket, service: Annotated[Service, Depends(service_of)]) -> None:
    client = socket.scope[CLIENT]
    try:
        service.sockets.check(client)
    except Problem as problem:
        await socket.send_denial_response(problem.response())
        return
    with service.sockets.place(client):
        offered = SUBPROTOCOL in socket.scope["subprotocols"]
        await socket.accept(SUBPROTOCOL if offered else None)
        try:
            await socket.close(await _talk(socket, service, client))
        except (ClientGone, WebSocketDisconnect):
            pass
        except Exception as error:
            await _refuse(socket, problem_of(error))


async def _talk(socket: WebSocket, service: Service, client: str) -> int:
    """Until the program has ended and all of it is told: with what code to close. Raises for what
    ends it before."""
    talk = Talk(service, client, await _program(socket, service))
    telling = asyncio.create_task(_tell(socket, talk))
    hearing = asyncio.create_task(_hear(socket, talk))
    try:
        await asyncio.wait({telling, hearing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await cancel([telling, hearing])
    return hearing.result() if telling.cancelled() else telling.result()


async def _program(socket: WebSocket, service: Service) -> LiveRequest:
    seconds = service.settings.server.body_seconds
    try:
        async with asyncio.timeout(seconds):
            message = await _receive(socket)
    except TimeoutError:
        raise Problem(408, "too-slow", f"no program has come within {seconds:g} s") from None
    if isinstance(message, bytes):
        raise Problem(422, "invalid-request", "the first message is the program, as JSON in text")
    return program_in(message)


async def _tell(socket: WebSocket, talk: Talk) -> int:
    code = _NORMAL
    async with aclosing(talk.events()) as events:
        async for event in events:
            await socket.send_json(event)
            if problem := event.get("problem"):
                code = _code_of(problem["status"])
    return code


async def _hear(socket: WebSocket, talk: Talk) -> NoReturn:
    while True:
        message = await _receive(socket)
        if isinstance(message, bytes):
            await talk.type(message)
        else:
            await talk.hear(said_in(message))


async def _receive(socket: WebSocket) -> str | bytes:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise ClientGone
    text: str | None = message.get("text")
    data: bytes = message.get("bytes") or b""
    return data if text is None else text


def _code_of(status: int) -> int:
    return _CODES.get(status, _POLICY)


async def _refuse(socket: WebSocket, problem: Problem) -> None:
    """A reason is short, so the problem comes first."""
    code = _code_of(problem.status_code)
    reason = problem.detail.encode()[:_LONGEST_REASON].decode(errors="ignore")
    try:
        await socket.send_json({"type": "error", "problem": problem.members()})
        await socket.close(code, reason)
    except (WebSocketDisconnect, RuntimeError):
        pass  # it has gone meanwhile

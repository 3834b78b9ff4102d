"""An answer that comes piece by piece: Server-Sent Events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from coderunner.cancelling import cancel
from coderunner.server.outbox import Event
from coderunner.server.service import while_connected

MEDIA_TYPE = "text/event-stream"
_HEARTBEAT = b":\n\n"


class EventStream(Response):
    """Each event is named for its `type`, and what it brings is JSON. A reader who leaves ends
    the source of the events at once."""

    media_type = MEDIA_TYPE

    def __init__(self, events: AsyncGenerator[Event], heartbeat_s: float = 15) -> None:
        """What is silent for longer, some proxies take for dead."""
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_until_gone(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            await cancel([sending, leaving])

    async def _send(self, send: Send) -> None:
        async with aclosing(self._events) as events:
            head = {"status": self.status_code, "headers": self.raw_headers}
            await send({"type": "http.response.start", **head})
            while True:
                coming = asyncio.ensure_future(anext(events, None))
                try:
                    while not (await asyncio.wait({coming}, timeout=self._heartbeat_s))[0]:
                        await _pass_on(send, _HEARTBEAT, more=True)
                finally:
                    await cancel([coming])
                event = coming.result()
                if event is None:
                    break
                await _pass_on(send, _written(event), more=True)
            await _pass_on(send, b"", more=False)


async def event_stream(
    request: Request, events: AsyncGenerator[Event], heartbeat_s: float
) -> EventStream:
    """Once there is a first event: what is raised instead of it still has a status of its own.
    Raises ClientGone if nobody waits for it."""
    first = await while_connected(request, anext(events))
    return EventStream(_all(first, events), heartbeat_s)


async def _all(first: Event, rest: AsyncGenerator[Event]) -> AsyncGenerator[Event]:
    async with aclosing(rest):
        yield first
        async for event in rest:
            yield event


def wants_events(accept: str) -> bool:
    return any(part.partition(";")[0].strip().lower() == MEDIA_TYPE for part in accept.split(","))


def _written(event: Event) -> bytes:
    facts = {name: value for name, value in event.items() if name != "type"}
    return f"event: {event['type']}\ndata: {json.dumps(facts)}\n\n".encode()


async def _pass_on(send: Send, body: bytes, *, more: bool) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

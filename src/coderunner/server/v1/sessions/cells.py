"""One cell, followed while it runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator

from coderunner.cancelling import cancel
from coderunner.model import Stream
from coderunner.notebook import CellResult
from coderunner.server.outbox import Event, Outbox
from coderunner.server.problems import problem_of
from coderunner.server.sessions.open_session import OpenSession, Turn
from coderunner.text import as_bytes

_WAITING_BYTES = 256 * 1024  # for a reader who is slow


async def follow(session: OpenSession, code: str, turn: Turn) -> AsyncGenerator[Event]:
    """`started` when it is its turn, what it prints, and `end` with its result. What keeps it from
    being run at all is raised. Whoever stops following has the cell interrupted."""
    outbox = Outbox(_WAITING_BYTES)
    loop = asyncio.get_running_loop()
    started = asyncio.Event()

    @contextlib.asynccontextmanager
    async def its_turn() -> AsyncIterator[None]:
        async with turn():
            outbox.tell("started")
            started.set()
            yield

    def printed(stream: Stream, text: str) -> None:  # in another thread
        loop.call_soon_threadsafe(outbox.printed, stream, as_bytes(text, "output"))

    running = asyncio.create_task(session.run(code, its_turn, printed))
    starting = asyncio.create_task(started.wait())
    try:
        await asyncio.wait({running, starting}, return_when=asyncio.FIRST_COMPLETED)
        if not started.is_set():
            running.result()
        running.add_done_callback(lambda task: _conclude(task, outbox))
        async for event in outbox.events():
            yield event
    finally:
        await cancel([running, starting])


def _conclude(running: asyncio.Task[CellResult], outbox: Outbox) -> None:
    if not running.cancelled():
        error = running.exception()
        if error is None:
            outbox.tell("end", result=running.result().model_dump(mode="json"))
        else:
            outbox.tell("error", problem=problem_of(error).members())
    outbox.close()

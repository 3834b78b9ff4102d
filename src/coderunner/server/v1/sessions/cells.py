"""One cell, followed while it runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from coderunner.model import Stream
from coderunner.notebook import CellResult
from coderunner.server.outbox import Event
from coderunner.server.sessions.open_session import OpenSession, Turn
from coderunner.server.v1.following import Follower, follow
from coderunner.text import as_bytes


def follow_cell(
    session: OpenSession, code: str, turn: Turn, *, most_bytes: int
) -> AsyncGenerator[Event]:
    """`queued`, `started` when it is its turn, what it prints, and `end` with its result. Whoever
    stops following has the cell interrupted."""
    loop = asyncio.get_running_loop()

    async def run(follower: Follower) -> CellResult:
        @contextlib.asynccontextmanager
        async def its_turn() -> AsyncIterator[None]:
            async with turn():
                follower.started()
                follower.on_its_way.set()
                yield

        def printed(stream: Stream, text: str) -> None:  # in another thread
            data = as_bytes(text, "output")
            loop.call_soon_threadsafe(follower.printed, stream, data)

        return await session.run(code, its_turn, printed)

    return follow(run, _answer, most_bytes=most_bytes)


def _answer(result: CellResult) -> dict[str, Any]:
    return result.model_dump(mode="json")

"""Work that is followed while it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any, TypeVar

from coderunner.as_json import of_outcome
from coderunner.cancelling import cancel
from coderunner.engines.base import Process
from coderunner.model import Outcome, Stream
from coderunner.server.outbox import Event, Outbox
from coderunner.server.problems import problem_of

T = TypeVar("T")

# So long an answer is put off, since who is refused is refused at once, and better by a status.
_REFUSED_S = 0.05


class Follower:
    """Told by the work, tells the outbox."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self.on_its_way = asyncio.Event()  # nothing keeps it from being begun any more

    async def compiled(self, outcome: Outcome) -> None:
        self._outbox.tell("compiled", compilation=of_outcome(outcome))

    def started(self, process: Process | None = None) -> None:
        self._outbox.tell("started")

    def printed(self, stream: Stream, data: bytes) -> None:
        self._outbox.printed(stream, data)

    async def __call__(self, stream: Stream, data: bytes) -> None:
        self._outbox.printed(stream, data)

    async def ended(self, stream: Stream) -> None:
        self._outbox.finished(stream)


async def follow(
    work: Callable[[Follower], Coroutine[Any, Any, T]],
    answer: Callable[[T], Any],
    *,
    most_bytes: int,
) -> AsyncGenerator[Event]:
    """`queued`, what the follower is told, and `end` with the answer to what came of it. What keeps
    it from being done is raised if that is known at once, and the last event (`error`) if not.
    Whoever stops following has it ended. For a reader who is slow, so many bytes are kept."""
    outbox = Outbox(most_bytes)
    outbox.tell("queued")
    follower = Follower(outbox)
    running = asyncio.create_task(work(follower))
    starting = asyncio.create_task(follower.on_its_way.wait())

    def conclude(running: asyncio.Task[T]) -> None:
        if not running.cancelled():
            error = running.exception()
            if error is None:
                outbox.tell("end", result=answer(running.result()))
            else:
                outbox.tell("error", problem=problem_of(error).members())
        outbox.close()

    try:
        await asyncio.wait(
            {running, starting}, timeout=_REFUSED_S, return_when=asyncio.FIRST_COMPLETED
        )
        if running.done() and not follower.on_its_way.is_set():
            running.result()
        running.add_done_callback(conclude)
        async for event in outbox.events():
            yield event
    finally:
        await cancel([running, starting])

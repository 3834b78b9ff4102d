"""A run, followed while it is on its way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from starlette.requests import HTTPConnection

from coderunner.as_json import of_outcome
from coderunner.cancelling import cancel
from coderunner.engines.base import Process
from coderunner.model import Outcome, Result, Stream
from coderunner.server.outbox import Event, Outbox
from coderunner.server.problems import problem_of
from coderunner.server.service import Service
from coderunner.server.v1.carrying import answer, carry_out
from coderunner.server.v1.order import Order
from coderunner.toolchain import Toolchain

# So long an answer is put off, since who is refused is refused at once, and better by a status.
_REFUSED_S = 0.05
_Running = asyncio.Task[tuple[Result, Toolchain]]


async def follow(service: Service, request: HTTPConnection, order: Order) -> AsyncGenerator[Event]:
    """`queued`, `compiled`, `started`, what it prints, and `end` with its result. What keeps it
    from being run is raised if that is known at once, and the last event (`error`) if not. Whoever
    stops following has it killed."""
    outbox = Outbox(service.settings.server.stream_kb * 1024)
    outbox.tell("queued")
    follower = _Follower(outbox)
    running: _Running = asyncio.create_task(_run(service, request, order, follower))
    starting = asyncio.create_task(follower.on_its_way.wait())
    try:
        await asyncio.wait(
            {running, starting}, timeout=_REFUSED_S, return_when=asyncio.FIRST_COMPLETED
        )
        if running.done() and not follower.on_its_way.is_set():
            running.result()
        running.add_done_callback(lambda task: _conclude(task, outbox))
        async for event in outbox.events():
            yield event
    finally:
        await cancel([running, starting])


class _Follower:
    """Told by the run, tells the outbox."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self.on_its_way = asyncio.Event()

    async def compiled(self, outcome: Outcome) -> None:
        self._outbox.tell("compiled", compilation=of_outcome(outcome))

    def started(self, process: Process) -> None:
        self._outbox.tell("started")

    async def __call__(self, stream: Stream, data: bytes) -> None:
        self._outbox.printed(stream, data)

    async def ended(self, stream: Stream) -> None:
        self._outbox.finished(stream)


async def _run(
    service: Service, request: HTTPConnection, order: Order, follower: _Follower
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


def _conclude(running: _Running, outbox: Outbox) -> None:
    if not running.cancelled():
        error = running.exception()
        if error is None:
            outbox.tell("end", result=answer(*running.result()))
        else:
            outbox.tell("error", problem=problem_of(error).members())
    outbox.close()

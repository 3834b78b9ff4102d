"""What all requests share: a runner, turns, workers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from starlette.requests import HTTPConnection, Request

from coderunner.cancelling import cancel
from coderunner.model import Limits
from coderunner.runner import Runner
from coderunner.server.door import CLIENT
from coderunner.server.metrics import Metrics
from coderunner.server.places import Places
from coderunner.server.sessions.store import Sessions
from coderunner.server.slots import Slots
from coderunner.server.surveyed import Surveyed
from coderunner.server.workers import Workers
from coderunner.settings import Settings
from coderunner.settings.server import ServerSettings

T = TypeVar("T")
_KB = 1024
_WARM_CONTAINERS = 32
_LIVE_PER_CORE = 8
_ROOM = 4 * _KB  # beside what is shown: then the cut is ours, and where it belongs


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True)
class Service:
    settings: Settings
    runner: Runner
    slots: Slots
    workers: Workers
    metrics: Metrics
    sessions: Sessions
    live: Slots  # of runs that somebody talks to, and that mostly wait for him
    sockets: Places
    surveyed: Surveyed
    limits: Limits  # of the simple endpoints
    started: float  # by the monotonic clock

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, settings: Settings) -> AsyncIterator[Service]:
        """A service whose engine works and whose workers have started. Raises with a remedy if
        that cannot be."""
        mine = settings.server
        settings = _for_a_service(settings)
        limits = _limits(settings)
        async with Runner.open(settings) as runner:
            await runner.isolation()
            metrics = Metrics()
            workers = Workers(runner, mine, limits)
            cores = len(os.sched_getaffinity(0))
            slots = _slots(mine.concurrency or cores, mine)
            live = _slots(mine.live or _LIVE_PER_CORE * cores, mine)
            sockets = Places("WebSockets", mine.sockets, mine.client_sockets)
            sessions = Sessions(settings)
            metrics.watch(slots)
            metrics.count("sessions", "Sessions", lambda: len(sessions))
            metrics.count("sockets", "WebSockets", lambda: len(sockets))
            metrics.count("live", "Interactive runs", lambda: live.running)
            try:
                await workers.start()
                yield cls(
                    settings=settings,
                    runner=runner,
                    slots=slots,
                    workers=workers,
                    metrics=metrics,
                    sessions=sessions,
                    live=live,
                    sockets=sockets,
                    surveyed=Surveyed(runner),
                    limits=limits,
                    started=time.monotonic(),
                )
            finally:
                await sessions.close()
                await workers.close()

    async def serve(
        self, request: HTTPConnection, language: str, work: Callable[[], Awaitable[T]]
    ) -> T:
        """Do some work when it is this client's turn."""
        async with self.slots.slot(request.scope[CLIENT]):
            with self.workers.use(language):
                return await work()


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """The work, which is cancelled when the client goes. Raises ClientGone then."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.create_task(_until_gone(request))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        return working.result()
    finally:
        await cancel([working, leaving])


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _for_a_service(settings: Settings) -> Settings:
    """Whose callers come again: containers are used again, unless somebody has decided that."""
    docker = settings.docker
    if "warm" not in docker.model_fields_set:
        docker = docker.model_copy(update={"warm": _WARM_CONTAINERS})
    return settings.model_copy(
        update={"min_isolation": settings.server.min_isolation, "docker": docker}
    )


def _slots(most: int, mine: ServerSettings) -> Slots:
    return Slots(most, mine.queue, mine.client_concurrency, mine.queue_wait_ms / 1000)


def _limits(settings: Settings) -> Limits:
    mine = settings.server
    return Limits(
        wall_ms=mine.timeout_ms,
        memory_mb=mine.memory_mb,
        cpus=mine.cpus,
        output_bytes=2 * (mine.output_kb * _KB + _ROOM),  # half of it is the head
    )


async def service_of(request: HTTPConnection) -> Service:
    found: Service = request.app.state.service
    return found

"""One run, and somebody who talks to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from coderunner.engines.base import Process
from coderunner.feed import Feed
from coderunner.model import Limits, Result
from coderunner.server.ceiling import ceiling_of
from coderunner.server.outbox import Event
from coderunner.server.problems import Problem
from coderunner.server.service import Service
from coderunner.server.v1.carrying import answer_to, carry_out
from coderunner.server.v1.following import Follower, follow
from coderunner.server.v1.live.messages import (
    EndOfInput,
    GivenSignal,
    LiveRequest,
    Resize,
    Said,
    TypedInput,
)
from coderunner.server.v1.order import order_of
from coderunner.toolchain import Toolchain

_UNREAD_BYTES = 1024 * 1024  # of input; whoever has sent more has to wait
_AFTER_EACH_S = 0.01  # signals and sizes are for the engine to pass on, one by one


class Talk:
    """Raises at once if the program is nothing that could be run."""

    def __init__(self, service: Service, client: str, asked: LiveRequest) -> None:
        ceiling = _ceiling(service)
        usual = Limits(wall_ms=ceiling.wall_ms, cpu_ms=ceiling.cpu_ms)
        self._service = service
        self._client = client
        self._order = order_of(asked, service, usual=usual, ceiling=ceiling)
        self._terminal = asked.terminal.of_engine() if asked.terminal else None
        self._feed = Feed(_UNREAD_BYTES)
        self._process: Process | None = None
        self._resized: Resize | None = None  # before there was a process
        self._killed = False

    def events(self) -> AsyncGenerator[Event]:
        """Runs it, and tells what happens. Whoever stops listening has it killed."""
        most = self._service.settings.server.stream_kb * 1024
        return follow(self._run, answer_to, most_bytes=most)

    async def hear(self, said: Said) -> None:
        """Raises a Problem for what cannot be done."""
        match said:
            case TypedInput(data=text):
                await self.type(text.encode())
            case EndOfInput():
                self._feed.close()
            case GivenSignal():
                self._signal(said)
                await asyncio.sleep(_AFTER_EACH_S)
            case Resize():
                self._resize(said)
                await asyncio.sleep(_AFTER_EACH_S)

    async def type(self, data: bytes) -> None:
        """Waits while too much is unread, but not for ever: nobody is heard meanwhile, not even
        when leaving."""
        patience_s = self._service.settings.server.input_seconds
        try:
            async with asyncio.timeout(patience_s):
                await self._feed.put(data)
        except TimeoutError:
            waiting = f"{_UNREAD_BYTES >> 10} KB of input have been waiting for {patience_s:g} s"
            raise Problem(
                422,
                "input-not-read",
                f"{waiting}, and the program does not read",
                hint="send a lot of input as `stdin` of the program itself",
            ) from None

    def _signal(self, said: GivenSignal) -> None:
        if said.number is None:
            self._killed = True
            if self._process is not None:
                self._process.kill()
        elif self._process is not None:
            self._process.send_signal(said.number)

    def _resize(self, said: Resize) -> None:
        if self._terminal is None:
            raise Problem(422, "no-terminal", "this program runs in no terminal")
        self._resized = said
        if self._process is not None:
            self._process.resize(said.rows, said.columns)

    async def _run(self, follower: Follower) -> tuple[Result, Toolchain]:
        service, order = self._service, self._order

        def started(process: Process) -> None:
            self._process = process
            follower.started(process)
            if self._killed:
                process.kill()
            elif self._resized is not None:
                process.resize(self._resized.rows, self._resized.columns)

        async with service.live.slot(self._client):
            with service.workers.use(order.language.name):
                await service.runner.toolchains.find(order.language)
                follower.on_its_way.set()
                return await carry_out(
                    service,
                    order,
                    stdin=self._input(),
                    sink=follower,
                    compiled=follower.compiled,
                    started=started,
                    terminal=self._terminal,
                )

    async def _input(self) -> AsyncGenerator[bytes]:
        if self._order.stdin:
            yield self._order.stdin
        async with aclosing(self._feed.listen()) as typed:
            async for chunk in typed:
                yield chunk


def _ceiling(service: Service) -> Limits:
    """Somebody who types takes longer than a program does."""
    mine = service.settings.server
    most = Limits(wall_ms=mine.live_wall_ms, cpu_ms=mine.live_cpu_ms)
    most = most.capped(service.settings.ceiling)
    longer = {"wall_ms": most.wall_ms, "cpu_ms": most.cpu_ms}
    return ceiling_of(service.settings).but(longer)

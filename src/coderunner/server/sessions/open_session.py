"""One session, as the service has it: one thing at a time, and an end when nobody needs it."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Literal

from coderunner.errors import InvalidInput
from coderunner.model import Isolation, Limits, Stream
from coderunner.notebook import CellResult, Session
from coderunner.server.problems import Problem

State = Literal["idle", "busy", "restarting", "dead"]
Turn = Callable[[], AbstractAsyncContextManager[None]]
OnOutput = Callable[[Stream, str], object]
_BUSY_S = 1  # when to ask again


class OpenSession:
    def __init__(
        self,
        *,
        id: str,
        client: str,
        language: str,
        isolation: Isolation,
        limits: Limits,
        idle_seconds: float,
        session: Session,
        on_idle: Callable[[OpenSession], None],
    ) -> None:
        self.id = id
        self.client = client
        self.language = language
        self.isolation = isolation
        self.limits = limits
        self.idle_seconds = idle_seconds
        self.created = datetime.datetime.now(datetime.UTC)
        self.cells = 0
        self._session = session
        self._on_idle = on_idle
        self._running = False
        self._restarting = False
        self._closed = False
        self._tiring: asyncio.TimerHandle | None = None
        self._wait_for_work()

    @property
    def state(self) -> State:
        if self._restarting:
            return "restarting"
        if self._running:
            return "busy"
        return "idle" if self._session.alive else "dead"

    async def run(self, code: str, turn: Turn, on_output: OnOutput | None = None) -> CellResult:
        """One cell, when it is its turn. Cancelling it interrupts the cell; the session stays."""
        if self._running or self._restarting:
            raise self._busy()
        self._running = True
        try:
            with self._at_work():
                async with turn():
                    self.cells += 1
                    return await self._session.execute_async(code, on_output=on_output)
        finally:
            self._running = False

    async def interrupt(self) -> None:
        """As Ctrl-C does. If nothing runs, nothing happens."""
        await self._session.interrupt_async()

    async def restart(self, turn: Turn) -> None:
        """A cell that runs is ended by that, and its turn is ours."""
        if self._restarting:
            raise self._busy()
        self._restarting = True
        try:
            with self._at_work():
                async with contextlib.nullcontext() if self._running else turn():
                    await self._session.restart_async()
        finally:
            self._restarting = False

    async def close(self) -> None:
        self._closed = True
        self._wait_no_more()
        await self._session.close_async()

    @contextlib.contextmanager
    def _at_work(self) -> Iterator[None]:
        self._wait_no_more()
        try:
            yield
        except InvalidInput as error:
            if self._closed:
                raise Problem(410, "session-ended", "this session has been ended") from error
            raise
        finally:
            self._wait_for_work()

    def _wait_for_work(self) -> None:
        self._wait_no_more()
        if not self._closed:
            loop = asyncio.get_running_loop()
            self._tiring = loop.call_later(self.idle_seconds, self._on_idle, self)

    def _wait_no_more(self) -> None:
        if self._tiring is not None:
            self._tiring.cancel()
            self._tiring = None

    def _busy(self) -> Problem:
        doing = "restarting" if self._restarting else "running a cell"
        return Problem(
            409,
            "session-busy",
            f"this session is {doing}",
            hint="wait for it, or interrupt it: cells run one after the other",
            headers={"Retry-After": str(_BUSY_S)},
        )

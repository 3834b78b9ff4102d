"""Blocking reads and writes of the terminal's side, off the event loop.

A pipe to `less` may block for minutes, a terminal may never say anything. Making such a
descriptor non-blocking is no way out: the flag belongs to everybody who shares it, the user's
shell included. So a thread waits in our place. It is a daemon: one that is stuck in a read when
we are done does not keep us from leaving.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _Call(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[T] = self._loop.create_future()

    def make(self) -> None:
        try:
            result = self._work()
        except BaseException as error:
            self._tell(self._fail, error)
        else:
            self._tell(self._succeed, result)

    def _tell(self, callback: Callable[[Any], None], argument: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(callback, argument)

    def _succeed(self, result: T) -> None:
        if not self.future.done():
            self.future.set_result(result)

    def _fail(self, error: BaseException) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class Worker:
    """One daemon thread, started when it is first needed, that makes calls one after the other."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: queue.SimpleQueue[_Call[Any]] = queue.SimpleQueue()
        self._started = False

    async def call(self, work: Callable[[], T]) -> T:
        if not self._started:
            self._started = True
            threading.Thread(target=self._serve, name=self._name, daemon=True).start()
        call = _Call(work)
        self._calls.put(call)
        return await call.future

    def _serve(self) -> None:
        while True:
            self._calls.get().make()

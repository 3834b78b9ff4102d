"""So many runs at once, and so many that wait for their turn: one of each client after another.

A client that sends a hundred requests gets as many turns as one that sends two.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator

from coderunner.server.problems import Problem, too_busy

_SMOOTH = 0.1  # how much the newest run counts in the mean


class Slots:
    def __init__(self, most: int, queue: int, per_client: int, wait_s: float) -> None:
        self._most = most
        self._queue = queue
        self._per_client = per_client
        self._wait_s = wait_s
        self._held: Counter[str] = Counter()  # by client: running and waiting
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._mean_s = 0.1
        self.running = 0
        self.waiting = 0

    @contextlib.asynccontextmanager
    async def slot(self, client: str) -> AsyncIterator[None]:
        """A turn for this client. Raises a Problem if there is none to be had in time."""
        if self._held[client] >= self._per_client:
            raise self._too_many(client)
        self._held[client] += 1
        try:
            await self._enter(client)
            began = asyncio.get_running_loop().time()
            try:
                yield
            finally:
                self._note(asyncio.get_running_loop().time() - began)
                self._leave()
        finally:
            self._held[client] -= 1
            if not self._held[client]:
                del self._held[client]

    async def _enter(self, client: str) -> None:
        if self.running < self._most and not self.waiting:
            self.running += 1
            return
        if self.waiting >= self._queue:
            raise self._full("the queue is full")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        self.waiting += 1
        try:
            async with asyncio.timeout(self._wait_s):
                await turn
        except TimeoutError:
            self._give_up(client, turn)
            raise self._full(f"no turn within {self._wait_s:g} s") from None
        except BaseException:
            self._give_up(client, turn)
            raise

    def _give_up(self, client: str, turn: asyncio.Future[None]) -> None:
        if turn.done() and not turn.cancelled():  # it was given a turn that it does not take
            self._leave()
            return
        turns = self._waiting.get(client)
        if turns is not None and turn in turns:
            turns.remove(turn)
            self.waiting -= 1
            if not turns:
                del self._waiting[client]

    def _leave(self) -> None:
        """Hand the turn to whose client comes next."""
        while self._waiting:
            client, turns = next(iter(self._waiting.items()))
            turn = turns.popleft()
            self.waiting -= 1
            if turns:
                self._waiting.move_to_end(client)
            else:
                del self._waiting[client]
            if not turn.done():
                turn.set_result(None)
                return
        self.running -= 1

    def _note(self, seconds: float) -> None:
        self._mean_s += _SMOOTH * (seconds - self._mean_s)

    def _retry_s(self) -> float:
        return (self.waiting + 1) * self._mean_s / self._most

    def _full(self, why: str) -> Problem:
        detail = f"{why}: {self.running} runs, {self.waiting} waiting"
        return too_busy(503, "busy", detail, self._retry_s())

    def _too_many(self, client: str) -> Problem:
        detail = f"{self._held[client]} of your requests are running or waiting already"
        return too_busy(429, "too-many-at-once", detail, self._retry_s())

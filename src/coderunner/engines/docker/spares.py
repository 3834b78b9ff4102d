"""Containers that have started already, and wait for their first order.

A job takes one that was made exactly as it needs it (image, limits, mounts), and the next one is
made meanwhile. So who runs the same kind of job again pays for a message, not for a container.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from coderunner.cancelling import cancel, outlast
from coderunner.engines.docker.container import Container
from coderunner.errors import EngineUnavailable

Start = Callable[[], Awaitable[Container]]
Remove = Callable[[Container], Awaitable[None]]


class Spares:
    """At most `most` at a time; those of the kind that nobody has asked for longest go first."""

    def __init__(self, most: int, remove: Remove) -> None:
        self._most = most
        self._remove = remove
        self._waiting: OrderedDict[str, Container] = OrderedDict()  # one of each kind
        self._making: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    @property
    def keeps(self) -> bool:
        return self._most > 0

    async def take(self, kind: str) -> Container | None:
        """One of this kind that is still there."""
        if kind in self._making:  # it is ready sooner than another one would be
            await outlast(self._making[kind])
        found = self._waiting.pop(kind, None)
        if found is None or found.usable:
            return found
        await self._remove(found)
        return None

    def make(self, kind: str, start: Start) -> None:
        """In the background, unless there is one."""
        if self._most and not self._closed and not {kind} & {*self._waiting, *self._making}:
            task = asyncio.create_task(self._make(kind, start))
            self._making[kind] = task
            task.add_done_callback(lambda _: self._making.pop(kind, None))

    async def made(self, kind: str) -> list[Container]:
        """What there is of this kind, once what is being made is ready."""
        if kind in self._making:
            await outlast(self._making[kind])
        return [found] if (found := self._waiting.get(kind)) else []

    async def cool(self, kind: str) -> None:
        for found in await self.made(kind):
            self._waiting.pop(kind, None)
            await self._remove(found)

    async def close(self) -> None:
        self._closed = True
        await cancel(list(self._making.values()))
        while self._waiting:
            await self._remove(self._waiting.popitem()[1])

    async def _make(self, kind: str, start: Start) -> None:
        with contextlib.suppress(EngineUnavailable):  # whoever needs it will hear of that
            self._waiting[kind] = await start()
        while len(self._waiting) > self._most:
            await self._remove(self._waiting.popitem(last=False)[1])

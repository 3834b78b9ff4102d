"""Containers that have started already, and wait for their order: used once, like all others.

A job takes one that was made exactly as it needs it (image, limits, mounts), and the next one is
made meanwhile. So who runs the same kind of job again pays for a message, not for a container.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from coderunner.cancelling import cancel, outlast
from coderunner.errors import EngineUnavailable

Started = tuple[str, tuple[socket.socket, socket.socket]]  # a container, and its streams
Start = Callable[[], Awaitable[Started]]
Remove = Callable[[str], Awaitable[None]]


class Spares:
    """At most `most` at a time; those of the kind that nobody has asked for longest go first."""

    def __init__(self, most: int, remove: Remove) -> None:
        self._most = most
        self._remove = remove
        self._waiting: OrderedDict[str, Started] = OrderedDict()  # one of each kind
        self._making: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    async def take(self, kind: str) -> Started | None:
        """One of this kind that is still there."""
        if kind in self._making:  # it is ready sooner than another one would be
            await outlast(self._making[kind])
        found = self._waiting.pop(kind, None)
        if found is None or _waits(found):
            return found
        await self._drop(found)
        return None

    def make(self, kind: str, start: Start) -> None:
        """In the background, unless there is one."""
        if self._most and not self._closed and not {kind} & {*self._waiting, *self._making}:
            task = asyncio.create_task(self._make(kind, start))
            self._making[kind] = task
            task.add_done_callback(lambda _: self._making.pop(kind, None))

    async def close(self) -> None:
        self._closed = True
        await cancel(list(self._making.values()))
        while self._waiting:
            await self._drop(self._waiting.popitem()[1])

    async def _make(self, kind: str, start: Start) -> None:
        with contextlib.suppress(EngineUnavailable):  # whoever needs it will hear of that
            self._waiting[kind] = await start()
        while len(self._waiting) > self._most:
            await self._drop(self._waiting.popitem(last=False)[1])

    async def _drop(self, spare: Started) -> None:
        container, ends = spare
        for end in ends:
            end.close()
        await self._remove(container)


def _waits(spare: Started) -> bool:
    """Nothing comes from one that waits, not even the end of its streams."""
    for end in spare[1]:
        end.setblocking(False)
        try:
            end.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            continue
        except OSError:
            return False
        return False
    return True

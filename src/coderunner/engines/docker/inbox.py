"""What a program has written to one stream, until somebody takes it."""

from __future__ import annotations

import asyncio

_CHUNK = 64 * 1024
_MOST_WAITING = 1 << 20  # bytes that nobody has taken yet, before we stop reading


class Inbox:
    def __init__(self) -> None:
        self._waiting = bytearray()
        self._arrived = asyncio.Event()
        self._taken = asyncio.Event()
        self._given_up = False
        self.ended = False  # all that the program wrote has come
        self.wanted = False  # somebody has begun to read
        self.stalled = False  # nobody takes what has come

    async def read(self) -> bytes:
        self.wanted = True
        while not self._waiting and not self.ended:
            self._arrived.clear()
            await self._arrived.wait()
        chunk = bytes(self._waiting[:_CHUNK])
        del self._waiting[:_CHUNK]
        self._taken.set()
        return chunk

    async def put(self, data: memoryview) -> None:
        """Comes back once there is room for more."""
        if not (self._given_up and len(self._waiting) > _MOST_WAITING):
            self._waiting += data
            self._arrived.set()
        while len(self._waiting) > _MOST_WAITING and not self._given_up:
            self.stalled = True
            self._taken.clear()
            await self._taken.wait()
        self.stalled = False

    def give_up(self) -> None:
        """Do not wait any more for somebody to take what comes: what is too much is dropped."""
        self._given_up = True
        self._taken.set()

    def end(self) -> None:
        self.ended = True
        self._arrived.set()

"""What somebody writes and somebody else has not read yet: a pipe between two tasks."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator

_BUFFER_BYTES = 64 * 1024  # as much as a pipe holds


class Feed:
    """Bytes for the stdin of a run, as they come: so many may be unread."""

    def __init__(self, most_bytes: int = _BUFFER_BYTES) -> None:
        self._most = most_bytes
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self._over = False  # nothing more will come
        self._deaf = False  # nobody reads any more
        self._changed = asyncio.Event()

    async def put(self, chunk: bytes) -> bool:
        """Waits while too much is unread, as a pipe does. Whether somebody is there to read it."""
        while self._held >= self._most and not self._deaf:
            await self._change()
        if not self._deaf:
            self._chunks.append(chunk)
            self._held += len(chunk)
            self._changed.set()
        return not self._deaf

    def close(self) -> None:
        """The reader gets what was written, and then the end."""
        self._over = True
        self._changed.set()

    async def listen(self) -> AsyncGenerator[bytes]:
        """The reader's end."""
        try:
            while True:
                while self._chunks:
                    chunk = b"".join(self._chunks)
                    self._chunks.clear()
                    self._held = 0
                    self._changed.set()
                    yield chunk
                if self._over:
                    return
                await self._change()
        finally:
            self.nobody_listens()

    def nobody_listens(self) -> None:
        """What is written from here on is for nobody: it is dropped."""
        self._deaf = True
        self._changed.set()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

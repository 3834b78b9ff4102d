"""A conversation with a program in a terminal: type, and read until something shows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from coderunner.engines.base import Process
from coderunner.execution import Stdin, execute
from coderunner.model import Outcome, Stream, Terminal
from tests.engines.bench import Bench

_PATIENCE_S = 30.0


class Talk:
    def __init__(self, process: Process) -> None:
        self.process = process
        self._reader = process.reader(Stream.STDOUT)
        self._unread = b""

    async def type(self, keys: bytes) -> None:
        await self.process.write(keys)

    async def until(self, shown: bytes) -> bytes:
        """All that comes up to and with this. The rest is for the next time."""
        async with asyncio.timeout(_PATIENCE_S):
            while shown not in self._unread:
                chunk = await self._reader.read()
                assert chunk, f"it ended with {self._unread!r}, without {shown!r}"
                self._unread += chunk
        before, found, self._unread = self._unread.partition(shown)
        return before + found

    async def rest(self) -> bytes:
        async with asyncio.timeout(_PATIENCE_S):
            while chunk := await self._reader.read():
                self._unread += chunk
        return self._unread


@asynccontextmanager
async def talk(bench: Bench, *argv: str, terminal: Terminal | None = None) -> AsyncIterator[Talk]:
    job = replace(bench.job(*argv, wall_ms=60_000), terminal=terminal or Terminal())
    process = await bench.engine.start(job)
    try:
        yield Talk(process)
    finally:
        await process.close()


async def in_terminal(
    bench: Bench, *argv: str, stdin: Stdin = None, terminal: Terminal | None = None, **limits: float
) -> Outcome:
    """A run from beginning to end."""
    job = replace(bench.job(*argv, **limits), terminal=terminal or Terminal())
    return await execute(bench.engine, job, stdin=stdin)

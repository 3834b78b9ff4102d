"""stdout as a place for text: lines that stay, and on a terminal a last one that changes.

It is written in a thread. A pager that does not read on must not keep us from reading what the
programs print, or their time would run out while they wait for us.
"""

from __future__ import annotations

import contextlib
import os
import shutil

from rich.console import Console
from rich.text import Text

from coderunner.cli.streams import CannotWrite, NobodyReads, write_all
from coderunner.cli.threads import Worker

_CLEARED = b"\r\x1b[2K"
_PIPED_WIDTH = 80

Line = Text | str


class Screen:
    def __init__(self) -> None:
        terminal = os.isatty(1)
        self._worker = Worker("stdout")
        self._console = Console(highlight=False, markup=False, emoji=False)
        self._changes = terminal and os.environ.get("TERM") != "dumb"
        self._unfinished = False
        self.width = shutil.get_terminal_size().columns if terminal else _PIPED_WIDTH

    async def say(self, *lines: Line) -> None:
        """Lines that stay. None is wrapped: whatever shows them knows better."""
        await self._write(self._taken_back() + b"".join(map(self._bytes, lines)))

    async def change(self, line: Line) -> None:
        """The last line as it is by now; only a terminal has such a thing."""
        if self._changes:
            short = Text(line) if isinstance(line, str) else line.copy()
            short.truncate(self.width - 1, overflow="ellipsis")
            data = self._taken_back() + self._bytes(short).rstrip(b"\n")
            self._unfinished = True
            await self._write(data)

    def clear(self) -> None:
        """Take back the line that changes: something else is to be said, or nothing more is."""
        if self._unfinished:
            with contextlib.suppress(NobodyReads, CannotWrite):
                write_all(1, self._taken_back())

    def _taken_back(self) -> bytes:
        unfinished, self._unfinished = self._unfinished, False
        return _CLEARED if unfinished else b""

    async def _write(self, data: bytes) -> None:
        await self._worker.call(lambda: write_all(1, data))

    def _bytes(self, line: Line) -> bytes:
        with self._console.capture() as captured:
            self._console.print(line, soft_wrap=True)
        return captured.get().encode("utf-8", "backslashreplace")

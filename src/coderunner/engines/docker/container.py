"""A container that has started: its two lines, and the job that it has in hand, if it has one.

    order ─▶ heard ─▶ begin ─▶ …the job… ─▶ wiped ─▶ the next order

Exactly one job at a time. Whoever has an order for it waits until it was heard, if the container
had been idle: somebody may have ended or paused it meanwhile. Nothing starts before `begin`, so an
order that was not heard may go to another container.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from coderunner.engines.docker.frames import Answer, Word, head
from coderunner.engines.docker.inbox import Inbox
from coderunner.engines.docker.line import Line
from coderunner.engines.docker.order import TOKEN_SIZE
from coderunner.model import Stream

_HEARD_WITHIN_S = 2.0
_WIPED_WITHIN_S = 10.0  # a warden gives up after five
_CLEAN = b"clean\n"

Hear = Callable[[int, bytes], None]


class Container:
    def __init__(self, id_: str, ends: tuple[socket.socket, socket.socket], kind: str) -> None:
        """The ends are those of stdin with stdout, and of stderr."""
        self.id = id_
        self.kind = kind
        self.jobs = 0  # that it was given
        self.since = 0.0  # when it became idle, by the loop's clock
        self.ran_out_of_memory = False  # ever
        self._main = Line(ends[0], self._on_word, self._on_over)
        self._errors = Line(ends[1], self._on_word, self._on_over)
        self._token = b""
        self._heard = asyncio.Event()
        self._wiped = asyncio.Event()
        self._is_clean = False
        self._hear: Hear | None = None

    @property
    def over(self) -> bool:
        """Nothing more comes from it."""
        return self._main.over and self._errors.over

    @property
    def usable(self) -> bool:
        return not self._main.over and not self._errors.over

    def order(self, said: bytes, token: bytes) -> None:
        self.jobs += 1
        self._token = token
        self._heard.clear()
        self._wiped.clear()
        self._is_clean = False
        self._main.post(said)

    async def heard(self) -> bool:
        """Whether it has an order in hand."""
        try:
            async with asyncio.timeout(_HEARD_WITHIN_S):
                await self._heard.wait()
        except TimeoutError:
            return False
        return self.usable

    def begin(self, inboxes: dict[Stream, Inbox], hear: Hear) -> None:
        self._main.inbox = inboxes[Stream.STDOUT]
        self._errors.inbox = inboxes[Stream.STDERR]
        self._hear = hear
        self._main.post(head(Word.GO))
        for line in (self._main, self._errors):
            if line.over and line.inbox:  # before anybody could hear of it
                line.inbox.end()

    async def send(self, data: memoryview) -> None:
        """To the program."""
        self._main.post(head(Word.STDIN, len(data)), data)
        await self._main.sent()

    def end_stdin(self) -> None:
        self._main.post(head(Word.STDIN_END))

    async def wiped(self) -> bool:
        """After a job that has ended: whether it is as new."""
        self._hear = self._main.inbox = self._errors.inbox = None
        self._main.post(head(Word.DONE))
        try:
            async with asyncio.timeout(_WIPED_WITHIN_S):
                await self._wiped.wait()
        except TimeoutError:
            return False
        return self._is_clean and self.usable

    async def close(self) -> None:
        """Let go of its lines."""
        await self._main.close()
        await self._errors.close()

    def _on_word(self, kind: int, said: bytes) -> None:
        if kind in (Answer.HEARD, Answer.REPORT, Answer.WIPED):
            token, said = said[:TOKEN_SIZE], said[TOKEN_SIZE:]
            if token != self._token:
                raise ValueError("these are not words of a warden's")
        if kind == Answer.HEARD:
            self._heard.set()
        elif kind == Answer.WIPED:
            self._is_clean = said == _CLEAN
            self._wiped.set()
        elif self._hear is not None:
            self._hear(kind, said)

    def _on_over(self) -> None:
        self._heard.set()
        self._wiped.set()
        if self._hear is not None:
            self._hear(0, b"")

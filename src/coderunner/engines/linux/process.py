"""One job in a box, as the caller sees it."""

from __future__ import annotations

import asyncio
import os
from typing import NamedTuple

from coderunner.cancelling import outlast
from coderunner.engines.base import Process, Reader, check_signal
from coderunner.engines.linux.client import Answer, Spawner
from coderunner.errors import CodeRunnerError, EngineUnavailable, InvalidProgram, StartFailed
from coderunner.forks import dropped_in_children
from coderunner.model import EndedBy, Exit, Isolation, Stream, Terminal, Usage
from coderunner.pipes import PipeReader, PipeWriter
from coderunner.terminals import TerminalWriter


class Streams(NamedTuple):
    """Our ends."""

    stdin: PipeWriter
    stdout: PipeReader
    stderr: PipeReader
    terminal: TerminalWriter | None = None  # the same as stdin, if that is one


class BoxProcess(Process):
    def __init__(
        self,
        spawner: Spawner,
        number: int,
        answer: asyncio.Future[Answer],
        command: str,
        isolation: Isolation,
        streams: Streams,
    ) -> None:
        self.isolation = isolation
        self._spawner = spawner
        self._number = number
        self._answer = answer
        self._command = command
        self._stdin, self._stdout, self._stderr, self._terminal = streams
        if self._terminal is not None:
            terminal = self._terminal
            answer.add_done_callback(lambda _: terminal.close())
        dropped_in_children(self)

    def reader(self, stream: Stream) -> Reader:
        return self._stdout if stream is Stream.STDOUT else self._stderr

    async def write(self, data: bytes) -> None:
        await self._stdin.write(data)

    def close_stdin(self) -> None:
        self._stdin.end()

    def send_signal(self, number: int) -> None:
        check_signal(number)
        if self._terminal is None or not self._terminal.press(number):
            self._spawner.signal(self._number, number)

    def resize(self, rows: int, columns: int) -> None:
        if self._terminal is None:
            super().resize(rows, columns)
        else:
            size = Terminal(rows, columns)
            self._terminal.resize(size.rows, size.columns)

    def kill(self, reason: EndedBy = EndedBy.KILLED) -> None:
        self._spawner.kill(self._number, reason.value)

    async def wait(self) -> Exit:
        message, _ = await asyncio.shield(self._answer)
        if message["op"] == "failed":
            raise _failure(self._command, message["kind"], message["message"])
        usage = Usage(message["wall_ms"], message["cpu_ms"], message["memory_peak_kb"])
        ended_by = EndedBy(message["ended_by"])
        return Exit(ended_by, message["exit_code"], message["signal"], usage, message["warm"])

    def workspace_fd(self) -> int:
        if not self._descriptors():
            raise ValueError("this job was not started with collect=True, or has not ended")
        return self._descriptors()[0]

    async def close(self) -> None:
        self.kill()
        try:
            await outlast(self._answer)
        finally:
            self._let_go()

    def _let_go(self) -> None:
        for pipe in (self._stdin, self._stdout, self._stderr):
            pipe.close()
        self.drop()

    def drop(self) -> None:
        for fd in self._descriptors():
            os.close(fd)
        self._answer = _closed(self._answer.get_loop())

    def _descriptors(self) -> list[int]:
        """What came with the answer: the workspace, if there is one, and an answer already."""
        if not self._answer.done() or self._answer.exception() is not None:
            return []  # a dead spawner sends none, and its boxes died with it
        return self._answer.result()[1]


def _closed(loop: asyncio.AbstractEventLoop) -> asyncio.Future[Answer]:
    answer: asyncio.Future[Answer] = loop.create_future()
    answer.set_result(({"op": "failed", "kind": "engine", "message": "closed"}, []))
    return answer


def _failure(command: str, kind: str, message: str) -> CodeRunnerError:
    if kind == "input":
        return InvalidProgram(
            "the program's files do not fit into its limits", hint="raise disk_mb or files"
        )
    if kind == "start":
        return StartFailed(f"cannot start {command!r}: {message}", hint=_start_hint(message))
    return EngineUnavailable(
        f"the sandbox could not be set up: {message}",
        hint="`coderunner doctor` tries every control and says which one fails",
    )


def _start_hint(message: str) -> str:
    if "address_space_mb" in message:
        return "raise address_space_mb, or leave it out"
    return "is the file in the sandbox, and is it executable?"

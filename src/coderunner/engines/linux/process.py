"""One job in a box, as the caller sees it."""

from __future__ import annotations

import asyncio
import os

from coderunner.engines.base import Process, Reader
from coderunner.engines.linux.client import Answer, Spawner
from coderunner.errors import CodeRunnerError, EngineUnavailable, InvalidProgram, StartFailed
from coderunner.model import EndedBy, Exit, Isolation, Stream, Usage
from coderunner.pipes import PipeReader, PipeWriter


class BoxProcess(Process):
    def __init__(
        self,
        spawner: Spawner,
        number: int,
        answer: asyncio.Future[Answer],
        command: str,
        isolation: Isolation,
        pipes: tuple[PipeWriter, PipeReader, PipeReader],
    ) -> None:
        self.isolation = isolation
        self._spawner = spawner
        self._number = number
        self._answer = answer
        self._command = command
        self._stdin, self._stdout, self._stderr = pipes
        self._workspace = -1

    def reader(self, stream: Stream) -> Reader:
        return self._stdout if stream is Stream.STDOUT else self._stderr

    async def write(self, data: bytes) -> None:
        await self._stdin.write(data)

    def close_stdin(self) -> None:
        self._stdin.close()

    def kill(self, reason: EndedBy = EndedBy.KILLED) -> None:
        self._spawner.kill(self._number, reason.value)

    async def wait(self) -> Exit:
        message, fds = await asyncio.shield(self._answer)
        if fds and self._workspace < 0:
            self._workspace = fds[0]
        if message["op"] == "failed":
            raise _failure(self._command, message["kind"], message["message"])
        usage = Usage(message["wall_ms"], message["cpu_ms"], message["memory_peak_kb"])
        ended_by = EndedBy(message["ended_by"])
        return Exit(ended_by, message["exit_code"], message["signal"], usage, message["warm"])

    def workspace_fd(self) -> int:
        if self._workspace < 0:
            raise ValueError("this job was not started with collect=True, or has not ended")
        return self._workspace

    async def close(self) -> None:
        self.kill()
        try:
            _, fds = await asyncio.shield(self._answer)
            for fd in fds:
                if fd != self._workspace:
                    os.close(fd)
        except EngineUnavailable:
            pass  # the spawner is dead, and its boxes with it
        for pipe in (self._stdin, self._stdout, self._stderr):
            pipe.close()
        if self._workspace >= 0:
            os.close(self._workspace)
            self._workspace = -1
        self._answer = _closed(self._answer.get_loop())


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
        return StartFailed(
            f"cannot start {command!r}: {message}",
            hint="is the file in the sandbox, and is it executable?",
        )
    return EngineUnavailable(
        f"the sandbox could not be set up: {message}",
        hint="`coderunner doctor` tries every control and says which one fails",
    )

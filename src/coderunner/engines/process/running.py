"""The caller's side of a job under its supervisor."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
from collections.abc import Callable, Mapping

from coderunner.cancelling import in_thread, outlast
from coderunner.engines.base import Process, Reader, check_signal
from coderunner.engines.linux.boxes import sampling
from coderunner.engines.process.scratch import Scratch
from coderunner.errors import EngineUnavailable, StartFailed
from coderunner.forks import dropped_in_children
from coderunner.model import EndedBy, Exit, Isolation, Job, Stream, Usage
from coderunner.pipes import PipeReader, PipeWriter

BACKSTOP_S = 5.0  # past its time limit: then it is the supervisor that hangs

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Running(Process):
    """One job, from the start of its supervisor to its end."""

    isolation = Isolation.NONE

    def __init__(
        self,
        job: Job,
        scratch: Scratch,
        supervisor: subprocess.Popen[bytes],
        *,
        stdin: PipeWriter,
        outputs: Mapping[Stream, PipeReader],
        control: int,
        report: PipeReader,
        on_close: Callable[[Running], None],
    ) -> None:
        self._job = job
        self._scratch = scratch
        self._supervisor = supervisor
        self._stdin = stdin
        self._outputs = outputs
        os.set_blocking(control, False)
        self._control = control
        self._report = report
        self._on_close = on_close
        self._lines = b""
        self._reason = EndedBy.KILLED
        self._workspace_fd = -1
        self._end: asyncio.Task[Exit] | None = None
        self._closing: asyncio.Task[None] | None = None
        dropped_in_children(self)

    async def started(self) -> None:
        """Wait until the program runs, or StartFailed."""
        match (await self._line()).split():
            case [b"started"]:
                self._end = asyncio.create_task(self._watch())
            case [b"failed", code]:
                raise _start_failed(self._job, int(code))
            case _:
                raise EngineUnavailable(
                    "the supervisor of a run did not come up",
                    hint="see that this Python works: python3 -I -S -c 'import ctypes'",
                )

    def reader(self, stream: Stream) -> Reader:
        return self._outputs[stream]

    async def write(self, data: bytes) -> None:
        await self._stdin.write(data)

    def close_stdin(self) -> None:
        self._stdin.close()

    def send_signal(self, number: int) -> None:
        check_signal(number)
        if self._control >= 0:
            with contextlib.suppress(OSError):  # nobody reads it any more, or it is full
                os.write(self._control, bytes([number]))

    def kill(self, reason: EndedBy = EndedBy.KILLED) -> None:
        if self._control >= 0:
            self._reason = reason
            self._hang_up()

    def _hang_up(self) -> None:
        control, self._control = self._control, -1
        if control >= 0:
            os.close(control)

    async def wait(self) -> Exit:
        assert self._end is not None
        return await asyncio.shield(self._end)  # a caller that gives up must not take it along

    def workspace_fd(self) -> int:
        if self._workspace_fd < 0:
            self._workspace_fd = os.open(self._scratch.work, _DIRECTORY)
        return self._workspace_fd

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await outlast(self._closing)
        self._closing.result()

    async def _close(self) -> None:
        self.kill()
        try:
            await (self._read_to_end() if self._end is None else outlast(self._end))
        finally:
            self._let_go()
            await in_thread(self._scratch.remove)  # a hostile tree can take its time
            self._on_close(self)

    def _let_go(self) -> None:
        self._reap_supervisor()
        for pipe in (self._stdin, *self._outputs.values(), self._report):
            pipe.close()
        self._close_workspace()

    def drop(self) -> None:
        self._hang_up()
        self._close_workspace()
        self._supervisor.returncode = 0  # it is not ours to wait for

    def _close_workspace(self) -> None:
        fd, self._workspace_fd = self._workspace_fd, -1
        if fd >= 0:
            os.close(fd)

    async def _watch(self) -> Exit:
        line = b""
        try:
            async with asyncio.timeout(self._job.limits.wall_ms / 1000 + BACKSTOP_S):
                line = await self._line()
        except TimeoutError:
            pass
        finally:
            if not line:
                self._kill_from_outside()
            self._reap_supervisor()
        return self._exit(line)

    async def _read_to_end(self) -> None:
        """Give a supervisor that has not started the program yet a moment to notice."""
        try:
            async with asyncio.timeout(BACKSTOP_S):
                while await self._report.read():
                    pass
        except (TimeoutError, EngineUnavailable):
            self._kill_from_outside()

    def _exit(self, line: bytes) -> Exit:
        match line.decode().split():
            case ["ended", why, code, wall_us, cpu_us, peak_kb]:
                usage = Usage(int(wall_us) / 1000, int(cpu_us) / 1000, int(peak_kb))
                ended_by = self._reason if why == "killed" else EndedBy(why)
                number = int(code)
                return Exit(
                    ended_by,
                    number if ended_by is EndedBy.EXIT else None,
                    -number if number < 0 else None,
                    usage,
                )
        raise EngineUnavailable(
            "the supervisor of a run died or hung",
            hint="the program may have attacked it: the linux engine prevents that",
        )

    async def _line(self) -> bytes:
        while b"\n" not in self._lines:
            chunk = await self._report.read()
            if not chunk:
                return b""
            self._lines += chunk
        line, _, self._lines = self._lines.partition(b"\n")
        return line

    def _kill_from_outside(self) -> None:
        """For a supervisor that hangs. If it is dead, only the program itself died with it."""
        for pid in sampling.tree(self._supervisor.pid)[1:]:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def _reap_supervisor(self) -> None:
        """It has nothing left to do, so this does not block: killed, it is gone at once."""
        if self._supervisor.returncode is None:
            self._supervisor.send_signal(signal.SIGKILL)
            self._supervisor.wait()


def _start_failed(job: Job, code: int) -> StartFailed:
    hints = {
        errno.ENOENT: "see that it is installed, and that the interpreter in its `#!` line exists",
        errno.EACCES: "make it executable",
        errno.E2BIG: "pass less in arguments and environment",
        errno.ENOEXEC: "it is neither a program for this machine nor a script with a `#!` line",
        errno.EINVAL: "its arguments or environment contain something no program can be given",
    }
    reason = os.strerror(code).lower()
    return StartFailed(f"cannot start {job.argv[0]!r}: {reason}", hint=hints.get(code, ""))

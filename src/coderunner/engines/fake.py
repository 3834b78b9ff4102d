"""An engine without processes: it plays scripts. For tests of everything above the engines.

    FakeEngine(Script(stdout=b"42\\n"))                                 every job does this
    FakeEngine([Script(stderr=b"no ;", exit_code=1), Script()])        one after the other
    FakeEngine(lambda job: Script(steps=(Answer(bytes.upper),)))       depending on the job

It behaves like a real one where its callers can tell: output comes through readers while the
script plays, stdin can break, the wall time limit holds, `kill` gives its reason, a workspace can
be collected. What it was given is in `engine.runs`.
"""

from __future__ import annotations

import asyncio
import math
import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coderunner.cancelling import outlast
from coderunner.engines.base import (
    Capabilities,
    Control,
    Engine,
    Process,
    Reader,
    State,
    check_signal,
)
from coderunner.errors import CodeRunnerError
from coderunner.model import EndedBy, Exit, File, Isolation, Job, Stream, Usage
from coderunner.workspace import Bundle, Workspace, copy_in

SOME_USAGE = Usage(wall_ms=1.0, cpu_ms=1.0, memory_peak_kb=1000)


@dataclass(frozen=True, slots=True)
class Say:
    """Write some bytes, as one chunk."""

    data: bytes
    stream: Stream = Stream.STDOUT


@dataclass(frozen=True, slots=True)
class Pause:
    """Do nothing for a while, or until killed."""

    ms: float = math.inf


@dataclass(frozen=True, slots=True)
class Answer:
    """Read stdin to its end and write what the function makes of it."""

    reply: Callable[[bytes], bytes] = bytes


@dataclass(frozen=True, slots=True)
class CloseStdin:
    """Stop reading: from here on, writing to it is a broken pipe."""


Step = Say | Pause | Answer | CloseStdin


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What one job does: prints, takes its steps, and ends."""

    stdout: bytes = b""
    stderr: bytes = b""
    steps: tuple[Step, ...] = ()
    exit_code: int = 0
    signal: int | None = None  # it dies of this instead of exiting
    ended_by: EndedBy | None = None  # by default: what the two above say
    usage: Usage = SOME_USAGE
    files: tuple[File, ...] = ()  # added to its workspace, with `collect`
    start_error: CodeRunnerError | None = None  # raised by Engine.start
    wait_error: CodeRunnerError | None = None  # raised by Process.wait, once the steps are done

    def exit(self) -> Exit:
        if self.ended_by not in (None, EndedBy.EXIT, EndedBy.SIGNAL):
            return Exit(self.ended_by, None, self.signal or signal.SIGKILL, self.usage)
        if self.signal is not None:
            return Exit(EndedBy.SIGNAL, None, self.signal, self.usage)
        return Exit(EndedBy.EXIT, self.exit_code, None, self.usage)


@dataclass(slots=True)
class Run:
    """One job as the engine got it. `files` is its workspace at the start, which is gone by the
    time a test looks; `stdin` what was written so far."""

    job: Job
    files: dict[str, bytes]
    stdin: bytearray = field(default_factory=bytearray)
    signals: list[int] = field(default_factory=list)
    sizes: list[tuple[int, int]] = field(default_factory=list)  # of its terminal: rows, columns
    closed: bool = False  # Process.close was called


class FakeEngine(Engine):
    name = "fake"
    signals = True
    terminals = True

    def __init__(
        self,
        script: Script | Iterable[Script] | Callable[[Job], Script] | None = None,
        *,
        isolation: Isolation = Isolation.FULL,
        controls: tuple[Control, ...] = (Control("everything", State.ENFORCED),),
    ) -> None:
        self.runs: list[Run] = []
        self.closed = False
        self._next_script = _chooser(script or Script())
        self._capabilities = Capabilities(isolation, controls)
        self._processes: list[FakeProcess] = []

    @property
    def jobs(self) -> list[Job]:
        return [run.job for run in self.runs]

    async def capabilities(self) -> Capabilities:
        return self._capabilities

    async def start(self, job: Job) -> FakeProcess:
        run = Run(job, _files_in(job.workspace))
        self.runs.append(run)
        script = self._next_script(job)
        if script.start_error is not None:
            raise script.start_error
        process = FakeProcess(run, script, self._capabilities.isolation)
        self._processes.append(process)
        return process

    async def aclose(self) -> None:
        for process in self._processes:
            await process.close()
        self.closed = True


class FakeProcess(Process):
    def __init__(self, run: Run, script: Script, isolation: Isolation) -> None:
        self.isolation = isolation
        self._run = run
        self._script = script
        self._chunks: dict[Stream, asyncio.Queue[bytes]] = {s: asyncio.Queue() for s in Stream}
        self._stdin_ended = asyncio.Event()
        self._stdin_broken = False
        self._workspace = Workspace() if run.job.collect else None
        if self._workspace is not None:  # the caller's own may be gone by the time it collects
            copy_in(run.job.workspace, self._workspace.path)
        self._workspace_fd = -1
        self._killed: asyncio.Future[EndedBy] = asyncio.get_running_loop().create_future()
        self._end = asyncio.create_task(self._play())

    def reader(self, stream: Stream) -> Reader:
        return _ChunkReader(self._chunks[stream])

    async def write(self, data: bytes) -> None:
        await asyncio.sleep(0)
        if self._stdin_broken or self._end.done():
            raise BrokenPipeError("the script does not read stdin any more")
        self._run.stdin += data

    def close_stdin(self) -> None:
        self._stdin_ended.set()

    def send_signal(self, number: int) -> None:
        check_signal(number)
        self._run.signals.append(number)

    def resize(self, rows: int, columns: int) -> None:
        if self._run.job.terminal is None:
            super().resize(rows, columns)
        self._run.sizes.append((rows, columns))

    def kill(self, reason: EndedBy = EndedBy.KILLED) -> None:
        if not self._killed.done():
            self._killed.set_result(reason)

    async def wait(self) -> Exit:
        ended = await asyncio.shield(self._end)
        if self._script.wait_error is not None:
            raise self._script.wait_error
        return ended

    def workspace_fd(self) -> int:
        assert self._workspace is not None, "only a job with collect=True has one"
        assert self._end.done(), "the workspace can be read once `wait` has returned"
        if self._workspace_fd < 0:
            self._workspace.add(self._script.files)
            self._workspace_fd = os.open(self._workspace.path, os.O_RDONLY | os.O_DIRECTORY)
        return self._workspace_fd

    async def close(self) -> None:
        self.kill()
        try:
            await outlast(self._end)
        finally:
            self._let_go()

    def _let_go(self) -> None:
        if self._workspace_fd >= 0:
            os.close(self._workspace_fd)
            self._workspace_fd = -1
        if self._workspace is not None:
            self._workspace.remove()
        self._run.closed = True

    async def _play(self) -> Exit:
        """The script, or as much of it as its time limit and the caller let it play."""
        playing = asyncio.create_task(self._take_steps())
        wall_s = self._run.job.limits.wall_ms / 1000
        either: set[asyncio.Future[Any]] = {playing, self._killed}
        await asyncio.wait(either, timeout=wall_s, return_when=asyncio.FIRST_COMPLETED)
        for chunks in self._chunks.values():
            chunks.put_nowait(b"")
        if playing.done():
            playing.result()
            return self._script.exit()
        playing.cancel()
        reason = self._killed.result() if self._killed.done() else EndedBy.WALL_TIME
        return Exit(reason, None, signal.SIGKILL, self._script.usage)

    async def _take_steps(self) -> None:
        self._say(self._script.stdout, Stream.STDOUT)
        self._say(self._script.stderr, Stream.STDERR)
        for step in self._script.steps:
            match step:
                case Say(data, stream):
                    self._say(data, stream)
                case Pause(ms):
                    await asyncio.sleep(ms / 1000)
                case Answer(reply):
                    await self._stdin_ended.wait()
                    self._say(reply(bytes(self._run.stdin)), Stream.STDOUT)
                case CloseStdin():
                    self._stdin_broken = True

    def _say(self, data: bytes, stream: Stream) -> None:
        if data:  # an empty chunk would be the end
            self._chunks[stream].put_nowait(data)


class _ChunkReader:
    def __init__(self, chunks: asyncio.Queue[bytes]) -> None:
        self._chunks = chunks

    async def read(self) -> bytes:
        chunk = await self._chunks.get()
        if not chunk:
            self._chunks.put_nowait(b"")  # the end stays the end
        return chunk


def _chooser(
    script: Script | Iterable[Script] | Callable[[Job], Script],
) -> Callable[[Job], Script]:
    if isinstance(script, Script):
        return lambda job: script
    if callable(script):
        return script
    scripts = iter(script)

    def next_one(job: Job) -> Script:
        chosen = next(scripts, None)
        assert chosen is not None, f"no script is left for {job.argv}"
        return chosen

    return next_one


def _files_in(workspace: Path | Bundle) -> dict[str, bytes]:
    with Workspace() as copy:
        copy_in(workspace, copy.path)
        return {
            str(path.relative_to(copy.path)): path.read_bytes()
            for path in sorted(copy.path.rglob("*"))
            if path.is_file()
        }

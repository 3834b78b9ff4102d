"""Starts jobs as ordinary processes, one supervisor each."""

from __future__ import annotations

import asyncio
import contextlib
import marshal
import math
import os
import resource
import subprocess
import sys
from pathlib import Path

from coderunner.cancelling import in_thread, outlast
from coderunner.engines.base import Capabilities, Control, Engine, State
from coderunner.engines.linux.boxes import sampling
from coderunner.engines.process.running import Running
from coderunner.engines.process.scratch import Scratch
from coderunner.errors import EngineUnavailable, StartFailed
from coderunner.forks import dropped_in_children, no_fork
from coderunner.model import MIB, Isolation, Job, Limits, Stream
from coderunner.pipes import PipeReader, PipeWriter

SUPERVISOR = Path(__file__).with_name("supervisor.py")

# Of our own environment, the supervisor gets only what its interpreter may need to start.
KEPT_VARIABLES = ("LD_LIBRARY_PATH",)

_FIX = "use the linux engine"


class ProcessEngine(Engine):
    """Subprocesses with rlimits, watched and ended as a whole tree. Not a security boundary.

    Environment: exactly the job's, plus HOME and TMPDIR. Mounts: see scratch.py. `disk_mb`
    bounds only each single file, `files` and `cpus` nothing; `capabilities` says so.
    """

    name = "process"
    signals = True

    def __init__(self) -> None:
        self._running: set[Running] = set()
        dropped_in_children(self)

    async def capabilities(self) -> Capabilities:
        _check_machine()
        return Capabilities(Isolation.NONE, _controls())

    async def start(self, job: Job) -> Running:
        _check_machine()
        self.check_terminal(job)
        if job.limits.cpus is not None:
            raise EngineUnavailable(
                f"cpus={job.limits.cpus} cannot be held by the process engine",
                hint=f"{_FIX}, or leave cpus out",
            )
        scratch = Scratch()
        try:
            await in_thread(lambda: scratch.fill(job))
            with no_fork:
                running = self._launch(job, scratch)
        except BaseException as error:
            scratch.remove()
            if isinstance(error, OSError):
                raise EngineUnavailable(f"cannot prepare a run: {error}") from error
            raise
        try:
            await running.started()
        except BaseException:
            await running.close()
            raise
        return running

    async def aclose(self) -> None:
        closing = [asyncio.create_task(running.close()) for running in self._running]
        await outlast(*closing)
        for task in closing:
            task.result()

    def drop(self) -> None:
        self._running.clear()

    def _launch(self, job: Job, scratch: Scratch) -> Running:
        """Start the supervisor. Its ends of the pipes are closed here, ours belong to Running."""
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            order = _closed_by(theirs, _order(job, scratch))
            stdin, control = _pipe_to(theirs, ours), _pipe_to(theirs, ours)
            stdout, stderr, report = (_pipe_from(theirs, ours) for _ in range(3))
            supervisor = subprocess.Popen(
                [*_python(), str(SUPERVISOR), str(control[0]), str(report[0]), str(order)],
                stdin=stdin[0],
                stdout=stdout[0],
                stderr=stderr[0],
                pass_fds=(control[0], report[0], order),
                cwd="/",
                env={name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ},
                start_new_session=True,  # Ctrl-C is the caller's to handle
            )
            ours.pop_all()
        running = Running(
            job,
            scratch,
            supervisor,
            stdin=PipeWriter(stdin[1]),
            outputs={Stream.STDOUT: PipeReader(stdout[1]), Stream.STDERR: PipeReader(stderr[1])},
            control=control[1],
            report=PipeReader(report[1]),
            on_close=self._running.discard,
        )
        self._running.add(running)
        return running


def _pipe_to(theirs: contextlib.ExitStack, ours: contextlib.ExitStack) -> tuple[int, int]:
    """A pipe that we write: their end, our end."""
    read, write = os.pipe()
    return _closed_by(theirs, read), _closed_by(ours, write)


def _pipe_from(theirs: contextlib.ExitStack, ours: contextlib.ExitStack) -> tuple[int, int]:
    """A pipe that we read: their end, our end."""
    read, write = os.pipe()
    return _closed_by(theirs, write), _closed_by(ours, read)


def _closed_by(stack: contextlib.ExitStack, fd: int) -> int:
    stack.callback(os.close, fd)
    return fd


def _check_machine() -> None:
    if sys.platform != "linux" or not sampling.supported():
        raise EngineUnavailable(
            "the process engine needs Linux and a /proc that lists a process's children",
            hint="mount /proc",
        )


def _python() -> list[str]:
    # Isolated and without site: nothing from the environment or the disk changes what it does.
    if not sys.executable:
        raise EngineUnavailable("this Python does not know where its own interpreter is")
    return [sys.executable, "-I", "-S", "-X", "utf8"]


def _order(job: Job, scratch: Scratch) -> int:
    """What the supervisor has to know, as an fd to read it from."""
    limits = job.limits
    argv, env = scratch.argv(job), scratch.env(job)
    if any("\0" in text for text in (*argv, *env, *env.values())):
        raise StartFailed("an argument or environment variable contains a NUL character")
    order = {
        "argv": argv,
        "env": env,
        "cwd": str(scratch.work),
        "wall_ms": limits.wall_ms,
        "cpu_ms": limits.cpu_ms,
        "memory_kb": limits.memory_mb * 1024,
        "tasks": limits.processes,
        "rlimits": _rlimits(limits),
    }
    fd = os.memfd_create("coderunner-order")
    with open(fd, "wb", closefd=False) as file:
        file.write(marshal.dumps(order))
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _rlimits(limits: Limits) -> list[tuple[int, int, int]]:
    """Kind, soft and hard limit. RLIMIT_NPROC is the supervisor's, who can count."""
    wanted = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.disk_mb * MIB),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_STACK, limits.stack_mb * MIB),
    ]
    if limits.cpu_ms is not None:
        # Per process and in whole seconds: for when it outruns the sampling.
        wanted.append((resource.RLIMIT_CPU, math.ceil(limits.cpu_ms / 1000) + 1))
    if limits.address_space_mb is not None:
        wanted.append((resource.RLIMIT_AS, limits.address_space_mb * MIB))
    return [(kind, value, value + (kind == resource.RLIMIT_CPU)) for kind, value in wanted]


def _controls() -> tuple[Control, ...]:
    """Named and ordered like the linux engine's, so that both fit one table."""

    def absent(name: str, reason: str) -> Control:
        return Control(name, State.ABSENT, reason, _FIX)

    def sampled(name: str) -> Control:
        return Control(name, State.SAMPLED, "the tree is looked at every 10 ms", _FIX)

    return (
        absent("pid namespace", "the program sees the machine's processes"),
        absent("mount namespace", "the program sees the machine's whole file system"),
        absent("network namespace", "the program has the machine's network"),
        absent("ipc namespace", "the program sees the machine's shared memory"),
        absent("uts namespace", "the program sees the machine's host name"),
        absent("user namespace", "the program's user and groups are the machine's own"),
        absent("read-only root", "the program can read and write what its user can"),
        absent("unprivileged uid", "the program runs as the same user as its caller"),
        absent("no capabilities", "the program has all rights of the user who runs it"),
        absent("no_new_privs", "the program may gain rights from setuid programs"),
        absent("seccomp filter", "the program may make every system call"),
        absent("landlock", "no second wall around the file system"),
        sampled("memory"),
        sampled("processes"),
        sampled("cpu time"),
        absent("cpus", "ordinary processes cannot be throttled"),
        Control("wall time", State.ENFORCED),
        absent("disk", "each file is limited to disk_mb, but not their sum nor their number"),
    )

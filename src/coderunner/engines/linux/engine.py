"""The embedded engine: jobs go to a spawner that is started when the first one comes."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from coderunner.cancelling import outlast
from coderunner.engines.base import Capabilities, Control, Engine, Process, State
from coderunner.engines.linux.boxes import protocol
from coderunner.engines.linux.client import Spawner
from coderunner.engines.linux.process import BoxProcess, Streams
from coderunner.errors import EngineUnavailable, InvalidProgram
from coderunner.forks import dropped_in_children, no_fork
from coderunner.model import Isolation, Job, Limits, Terminal
from coderunner.pipes import PipeReader, PipeWriter
from coderunner.terminals import SilentReader, TerminalReader, TerminalWriter, open_terminal
from coderunner.workspace.bundle import Bundle

_HOME = {"HOME": "/workspace", "TMPDIR": "/tmp"}
_WALLS = (
    "pid namespace",
    "mount namespace",
    "network namespace",
    "ipc namespace",
    "uts namespace",
    "user namespace",
    "read-only root",
    "unprivileged uid",
    "no capabilities",
    "no_new_privs",
    "seccomp filter",
)
_CGROUP_FIX = "run as root, or with a delegated cgroup: systemd-run --user --scope -p Delegate=yes"
_CGROUP_FIX_OF_ROOT = "mount a writable cgroup hierarchy at /sys/fs/cgroup"
_CPU_FIX = "delegate it: Delegate=cpu memory pids for user@.service, or run as root"
_CPU_FIX_OF_ROOT = "give the cpu controller to the cgroup that this runs in"
_LIMITS = tuple(field.name for field in fields(Limits))
_METERS = ("memory", "processes", "cpu time")


class LinuxEngine(Engine):
    name = "linux"
    signals = True
    terminals = True

    def __init__(self, *, compiled: bool = True) -> None:
        """`compiled=False` leaves the compiled part alone that makes boxes faster."""
        self._compiled = compiled
        self._spawner: Spawner | None = None
        self._starting = asyncio.Lock()
        dropped_in_children(self)

    async def capabilities(self) -> Capabilities:
        facts = (await self._running_spawner()).facts
        walls = [Control(name, State.ENFORCED) for name in _WALLS]
        clock = [Control(name, State.ENFORCED) for name in ("wall time", "disk")]
        controls = (*walls, _landlock(facts), *_meters(facts), *clock)
        return Capabilities(_isolation(facts), controls)

    async def start(self, job: Job) -> Process:
        spawner = await self._running_spawner()
        if job.limits.cpus is not None and not spawner.facts["throttles"]:
            why, fix = _unthrottled(spawner.facts)
            raise EngineUnavailable(
                f"cpus={job.limits.cpus} cannot be held here: {why}",
                hint=f"{fix}; or leave cpus out",
            )
        message = _message(job)
        with no_fork, _undo_on_error() as fds:
            theirs, ours = _terminal(fds, job.terminal) if job.terminal else _pipes(fds)
            workspace = _open_workspace(job.workspace)
            fds.append(workspace)
            try:
                number, answer = spawner.start(message, (*theirs, workspace))
            except protocol.PacketTooLarge as error:
                raise InvalidProgram(
                    f"arguments and environment are too long together ({error})",
                    hint="pass large input on stdin or as a file",
                ) from error
            streams = _streams(ours, job.terminal)
        isolation = _isolation(spawner.facts)
        return BoxProcess(spawner, number, answer, job.argv[0], isolation, streams)

    async def warm_up(self, job: Job) -> bool:
        return await (await self._running_spawner()).ask("warm", _message(job))

    async def is_warm(self, job: Job) -> bool:
        return await (await self._running_spawner()).ask("is_warm", _message(job))

    async def cool_down(self, job: Job) -> None:
        await (await self._running_spawner()).ask("cool", _message(job))

    async def aclose(self) -> None:
        closing = asyncio.create_task(self._close())
        await outlast(closing)
        closing.result()

    def drop(self) -> None:
        """A child that uses this engine starts a spawner of its own."""
        self._spawner = None
        self._starting = asyncio.Lock()

    async def _close(self) -> None:
        async with self._starting:  # also one that is just being started
            await self._close_spawner()

    async def _close_spawner(self) -> None:
        spawner, self._spawner = self._spawner, None
        if spawner is not None:
            await spawner.close()

    async def _running_spawner(self) -> Spawner:
        async with self._starting:
            if self._spawner is not None and not self._spawner.alive:
                await self._close_spawner()
            if self._spawner is None:
                self._spawner = await Spawner.launch(compiled=self._compiled)
            return self._spawner


def _message(job: Job) -> protocol.Message:
    terminal = job.terminal
    # An interpreter looks at its streams once, when it starts: one that had pipes then would never
    # speak to a terminal line by line.
    warm = None if terminal else job.warm
    return {
        "argv": list(job.argv),
        "env": {**_HOME, **({"TERM": terminal.kind} if terminal else {}), **job.env},
        "mounts": [[str(m.source), m.target, m.scratch] for m in job.mounts],
        "limits": {name: getattr(job.limits, name) for name in _LIMITS},
        "collect": job.collect,
        "directory": job.directory,
        "warm": warm and {"words": warm.words, "preload": warm.preload},
        "terminal": terminal is not None,
    }


@contextlib.contextmanager
def _undo_on_error() -> Iterator[list[int]]:
    """Collects descriptors and closes them if what follows fails."""
    fds: list[int] = []
    try:
        yield fds
    except BaseException:
        for fd in fds:
            os.close(fd)
        raise


def _open_workspace(workspace: Path | Bundle) -> int:
    if isinstance(workspace, Bundle):
        return os.dup(workspace.fd)
    return os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


_Three = tuple[int, int, int]  # for stdin, stdout and stderr


def _pipes(fds: list[int]) -> tuple[_Three, _Three]:
    """The program's ends, and ours."""
    stdin, our_stdin = _pipe(fds)
    our_stdout, stdout = _pipe(fds)
    our_stderr, stderr = _pipe(fds)
    return (stdin, stdout, stderr), (our_stdin, our_stdout, our_stderr)


def _pipe(fds: list[int]) -> tuple[int, int]:
    ends = os.pipe2(os.O_CLOEXEC)
    fds.extend(ends)
    return ends


def _terminal(fds: list[int], terminal: Terminal) -> tuple[_Three, _Three]:
    """The same of a terminal: three slaves, and two masters with a slave between them."""
    master, slave = open_terminal(terminal)
    fds += (master, slave)
    copies = []
    for fd in (slave, slave, slave, master):
        copies.append(os.dup(fd))
        fds.append(copies[-1])
    stdin, stdout, stderr, writer = copies
    return (stdin, stdout, stderr), (writer, master, slave)


def _streams(ours: _Three, terminal: Terminal | None) -> Streams:
    first, second, third = ours
    if terminal is None:
        return Streams(PipeWriter(first), PipeReader(second), PipeReader(third))
    writer = TerminalWriter(first, third)
    return Streams(writer, TerminalReader(second), SilentReader(), writer)


def _isolation(facts: protocol.Message) -> Isolation:
    return Isolation.FULL if facts["cgroup"] else Isolation.SAMPLED


def _landlock(facts: protocol.Message) -> Control:
    if facts["landlock"]:
        return Control("landlock", State.ENFORCED, f"ABI {facts['landlock']}")
    return Control(
        "landlock", State.ABSENT, "not in this kernel", "a second wall only; Linux 5.13 has it"
    )


def _meters(facts: protocol.Message) -> list[Control]:
    if facts["cgroup"]:
        reason = f"cgroup v{facts['cgroup']}"
        meters = [Control(name, State.ENFORCED, reason) for name in _METERS]
    else:
        why = facts["why_no_cgroup"]
        meters = [Control(name, State.SAMPLED, why, _cgroup_fix()) for name in _METERS]
    return [*meters, _throttle(facts)]


def _throttle(facts: protocol.Message) -> Control:
    if facts["throttles"]:
        return Control("cpus", State.ENFORCED, f"cgroup v{facts['cgroup']}")
    why, fix = _unthrottled(facts)
    return Control("cpus", State.ABSENT, f"refused: {why}", fix)


def _unthrottled(facts: protocol.Message) -> tuple[str, str]:
    """Why no program's cpus can be limited here, and what to do about it."""
    if not facts["cgroup"]:
        return facts["why_no_cgroup"], _cgroup_fix()
    fix = _CPU_FIX_OF_ROOT if os.geteuid() == 0 else _CPU_FIX
    return "the delegated cgroup has no cpu controller", fix


def _cgroup_fix() -> str:
    return _CGROUP_FIX_OF_ROOT if os.geteuid() == 0 else _CGROUP_FIX

"""Process 1 of a box, in Python: for where `process1.c` is not compiled. Both do the same.

It plays the plan it is given (`plan.py`), says that the box is ready, and waits for a job, maybe
not at all, maybe for minutes. Then it starts the program, waits for its end, takes everything it
left behind with it, reports and exits.
"""

from __future__ import annotations

import errno
import fcntl
import itertools
import json
import os
import resource
import signal
import socket
import time
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from . import kernel, player, protocol
from .stages import CHANNEL

_OUT_OF_THE_WAY = 32


def run(plan: bytes, fds: Sequence[int]) -> NoReturn:
    """The whole life of process 1, in a clone of the spawner."""
    channel = _set_up(plan, fds)
    report(channel, {"ready": True})
    packet, stdio = protocol.receive_packet(channel)
    if not packet:
        os._exit(0)
    try:
        job = protocol.decode_job(packet)
        take(job, stdio, CHANNEL)
        program = _start(job)
    except OSError as error:
        report(channel, {"start_errno": error.errno})
        os._exit(1)
    _live(channel, program)


def fork(plan: bytes, fds: Sequence[int], own_namespace: int) -> int:
    """In a warm interpreter: fork a box, and in it the program. Returns 0 in the program, which has
    yet to get its job, and in the interpreter a descriptor for process 1."""
    kernel.unshare(kernel.CLONE_NEWPID)  # for the next child
    pid = os.fork()
    if pid:
        pidfd = os.pidfd_open(pid)
        kernel.setns(own_namespace, kernel.CLONE_NEWPID)
        return pidfd
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    channel = _set_up(plan, fds)
    program = os.fork()
    if program:
        _live(channel, program)
    os.setsid()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # as after any exec
    channel.detach()
    return 0


def take(job: protocol.Job, stdio: Sequence[int], *others: int) -> None:
    """What a job brings along: three descriptors, and no others stay but those named. Then the
    limits under which process 1 could not have come so far."""
    for number, fd in enumerate(stdio):
        os.dup2(fd, number)
    _close_all_but(others)
    for kind, value in (
        (resource.RLIMIT_NOFILE, job.open_files),
        (resource.RLIMIT_AS, job.address_space),
        (resource.RLIMIT_CPU, job.cpu_seconds),
    ):
        if value >= 0:
            resource.setrlimit(kind, (value, value))


def report(channel: socket.socket, facts: dict[str, Any]) -> None:
    try:
        channel.send(json.dumps({"op": "report", **facts}).encode())
    except OSError:
        os._exit(1)  # nobody is there to read it


def _set_up(plan: bytes, fds: Sequence[int]) -> socket.socket:
    channel = socket.socket(fileno=_place(fds))
    try:
        player.play(plan)
    except BaseException as error:
        report(channel, {"failed": str(error)})
        os._exit(1)
    # If the spawner died before PDEATHSIG was set, the next report fails, and nothing is started.
    return channel


def _place(fds: Sequence[int]) -> int:
    """Give descriptors the numbers that a plan knows them by; returns that of the channel."""
    away = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY) for fd in fds]
    for number, fd in enumerate(away, CHANNEL):
        os.dup2(fd, number, inheritable=False)
    return CHANNEL


def _close_all_but(fds: Iterable[int]) -> None:
    kept = sorted({0, 1, 2, *fds})
    end = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    for before, after in itertools.pairwise([*kept, end]):
        if after > before + 1:
            os.closerange(before + 1, after)


def _live(channel: socket.socket, program: int) -> NoReturn:
    """Wait for the program, take everything it left behind with us."""
    for fd in (0, 1, 2):
        os.close(fd)
    status = _wait_for(program)
    ended = time.monotonic()
    _end_everybody_else()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    report(
        channel,
        {
            "status": status,
            "ended_at": ended,
            "cpu_ms": (usage.ru_utime + usage.ru_stime) * 1000,
            "max_rss_kb": usage.ru_maxrss,
        },
    )
    os._exit(0)


def _start(job: protocol.Job) -> int:
    try:
        return os.posix_spawn(
            job.argv[0],
            job.argv,
            job.env,
            # Whoever opens a terminal as the first of a session has control of it.
            file_actions=[(os.POSIX_SPAWN_OPEN, 0, "/dev/stdout", os.O_RDWR, 0)] * job.terminal,
            setsid=True,
            setsigmask=(),
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT),
        )
    except ValueError as error:  # what no program can be given
        raise OSError(errno.EINVAL, str(error)) from error


def _wait_for(program: int) -> int:
    """Reap whatever ends in the box until the program itself does."""
    while True:
        pid, status = os.wait()
        if pid == program:
            return status


def _end_everybody_else() -> None:
    """Kill and reap the rest, so that its cpu time is counted too."""
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.wait()
    except (ChildProcessError, ProcessLookupError):
        pass

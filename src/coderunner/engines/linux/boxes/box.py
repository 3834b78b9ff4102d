"""A box as the spawner sees it: a process in its own world, ready for one job."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import stat
from typing import TYPE_CHECKING, Any

from . import protocol, sampling
from .cgroups import Cgroup
from .controls import read
from .copying import copy_tree
from .unpacking import unpack

if TYPE_CHECKING:
    from .zygote import Zygote

_PROGRAM = 2  # the first process that process 1 makes; a number that is never given twice
_TERMINALS = range(136, 144)  # their major numbers
Key = tuple[object, ...]  # boxes with the same key have the same limits and file system

_NONSENSE = {"failed": "process 1 of the box talks nonsense"}


def _makes_sense(report: dict[str, Any]) -> bool:
    """Whether it can be passed on. (A status is taken apart, which fails if it is none.)"""
    words = [report["failed"]] if "failed" in report else []
    figures = ("ended_at", "cpu_ms", "max_rss_kb", "start_errno")
    return all(isinstance(word, str) for word in words) and all(
        protocol.is_number(report[name]) for name in figures if name in report
    )


def _is_its_own(status: os.stat_result) -> bool:
    """Whether this is a pipe or a terminal, made for the program alone."""
    is_terminal = stat.S_ISCHR(status.st_mode) and os.major(status.st_rdev) in _TERMINALS
    return is_terminal or stat.S_ISFIFO(status.st_mode)


def _program_of(process_1: int) -> int | None:
    """A descriptor for the program of a box."""
    for pid in sampling.children(process_1):
        try:
            pidfd = os.pidfd_open(pid)
        except OSError:
            continue  # gone
        if _number_within(pid) == _PROGRAM and not is_dead(pidfd):
            return pidfd
        os.close(pidfd)
    return None


def _number_within(pid: int) -> int:
    """The process's number in its own namespace. That it was this process which was looked at, and
    no later one of the same number, is sure only if it is alive afterwards."""
    try:
        lines = read(f"/proc/{pid}/status").splitlines()
        return next(int(line.split()[-1]) for line in lines if line.startswith("NSpid:"))
    except (OSError, StopIteration):
        return 0


def is_dead(pidfd: int) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(0))


class Box:
    def __init__(
        self,
        *,
        key: Key,
        pid: int,
        pidfd: int,
        channel: socket.socket,
        scratch: int,
        cgroup: Cgroup | None,
        memory_event: int | None,
        uid: int,
        open_files: int,
        zygote: Zygote | None,
    ) -> None:
        self.key = key
        self.pid = pid
        self.pidfd = pidfd
        self.channel = channel
        self.scratch = scratch
        self.cgroup = cgroup
        self.memory_event = memory_event
        self.uid = uid
        self.open_files = open_files
        self.zygote = zygote
        self.program: int | None = None  # a descriptor for it, once that was needed
        self.ready = False
        self.cpu_before_ms = 0.0

    def become_ready(self) -> None:
        """Process 1 has said so. What it used until now is not the program's."""
        self.ready = True
        if self.cgroup is not None:
            self.cpu_before_ms = self.cgroup.cpu_ms()
        else:
            self.cpu_before_ms = sampling.measure([self.pid]).cpu_ms

    def fill(self, workspace: int) -> None:
        """Copy the job's files into its tmpfs."""
        target = self.workspace()
        try:
            if stat.S_ISDIR(os.fstat(workspace).st_mode):
                copy_tree(workspace, target, self.uid)
            else:
                unpack(workspace, target, self.uid)
        finally:
            os.close(target)

    def assign(self, job: protocol.Job, stdio: list[int]) -> None:
        """Hand over the job. From here on the program runs."""
        for fd in stdio:
            if _is_its_own(os.fstat(fd)):
                os.fchown(fd, self.uid, self.uid)  # or it could not open /dev/stdin
        protocol.send(self.channel, protocol.encode_job(job), stdio)

    def signal(self, number: int) -> bool:
        """Send the program itself a signal. False if it is not there yet, or is gone."""
        if self.program is None:
            self.program = _program_of(self.pid)
        if self.program is None:
            return False
        with contextlib.suppress(OSError):  # gone, or there is no such signal
            signal.pidfd_send_signal(self.program, number)
        return True

    def report(self) -> dict[str, Any]:
        """What process 1 has to say; empty if it is gone without a word. It is ours, but lives
        next door to a hostile program: what it says is looked at before it is believed."""
        try:
            received = protocol.receive(self.channel)
        except OSError:
            received = None
        except ValueError:
            return _NONSENSE
        if received is None:
            return {}
        report, fds = received
        protocol.close_all(fds)
        return report if _makes_sense(report) else _NONSENSE

    def files_kb(self) -> int:
        """What its files take at this moment."""
        usage = os.fstatvfs(self.scratch)
        return (usage.f_blocks - usage.f_bfree) * usage.f_frsize // 1024

    def workspace(self) -> int:
        """A directory fd of what the job sees, or left."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open("workspace", flags, dir_fd=self.scratch)

    def kill(self) -> None:
        """Kill process 1, and with it everything in the box."""
        with contextlib.suppress(ProcessLookupError):  # a warm interpreter's are reaped at once
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def is_dead(self) -> bool:
        return is_dead(self.pidfd)

    def close(self) -> None:
        """Reap it and let go of all that belonged to it."""
        with contextlib.suppress(ChildProcessError):  # a warm interpreter's child, not ours
            os.waitpid(self.pid, 0)
        self.channel.close()
        for fd in (self.pidfd, self.scratch, self.memory_event, self.program):
            if fd is not None:
                os.close(fd)
        if self.cgroup is not None:
            self.cgroup.remove()

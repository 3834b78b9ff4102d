"""A warm interpreter as the spawner sees it: started ahead, asked for boxes, watched.

What runs in it is in `warm/`. It has the rights of the spawner, since it makes boxes, and it runs
nothing but the toolchain's own code: see SECURITY.md.
"""

from __future__ import annotations

import fcntl
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from . import kernel, player, protocol, rootfs, stages
from .box import Key
from .controls import read
from .plan import Plan
from .warm.preload import CHANNEL

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # what `boxes` is in
_HOOK = f"{rootfs.SCRATCH}/boxes/warm/hook"
_FORK_SECONDS = 2.0  # for what takes a millisecond


class Wish(NamedTuple):
    """Which interpreter: jobs that agree in all of this can be forked from the same one."""

    root: Key
    shown: tuple[tuple[str, bool], ...]  # see stages.Kind
    command: tuple[str, ...]  # without the program's own arguments
    env: tuple[tuple[str, str], ...]
    stack_mb: int
    directory: str
    preload: tuple[str, ...]


class Broken(OSError):
    """The interpreter cannot be used (any more)."""


class Zygote:
    def __init__(self, wish: Wish, root: int, *, compiled: bool) -> None:
        self.wish = wish
        self.ready = False
        self.awaited_by: list[int] = []  # who is to be told when it is ready
        self.forks = 0
        self.boxes = 0  # those that are still there: they would end with it
        self.started_at = self.last_used = time.monotonic()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        package = kernel.clone_tree(_PACKAGE)
        try:
            # In a pid namespace of its own, or an ordinary user's could make none for its boxes.
            self.pid, pidfd = kernel.clone(kernel.CLONE_NEWPID)
            if self.pid == 0:
                _start(wish, root, package, theirs.fileno())
            os.close(pidfd)
        finally:
            os.close(package)
            theirs.close()
        self.channel = ours
        self.channel.send(" ".join(wish.preload).encode() or b" ")
        protocol.send(self.channel, protocol.encode({"op": "setup", "compiled": compiled}))

    @property
    def alive(self) -> bool:
        """Whether it is ready, and nobody has killed it since."""
        gone = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return self.ready and gone is None

    def hear(self) -> None:
        """It has something to say while nothing was asked of it: that it is ready, or dead."""
        received = protocol.receive(self.channel)
        if received is None:
            self.ready = False
            raise Broken("it has ended")
        self.ready = received[0]["op"] == "ready"

    def fork(self, fds: Sequence[int]) -> tuple[int, int]:
        """A new box: its process id and a descriptor for it. The plan comes first among the
        descriptors, then those that process 1 is given."""
        try:
            protocol.send(self.channel, b"box", fds)
            if not select.select([self.channel], [], [], _FORK_SECONDS)[0]:
                raise Broken("it does not answer")
            received = protocol.receive(self.channel)
        except (OSError, ValueError) as error:
            raise Broken(str(error)) from error
        if received is None:
            raise Broken("it has ended")
        _, pidfds = received
        self.forks += 1
        self.boxes += 1
        self.last_used = time.monotonic()
        return _pid_of(pidfds[0]), pidfds[0]

    def end(self) -> None:
        """Its boxes end with it."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.channel.close()


def _pid_of(pidfd: int) -> int:
    """As we see it: an interpreter counts in its own namespace."""
    lines = read(f"/proc/self/fdinfo/{pidfd}").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))


def _start(wish: Wish, root: int, package: int, channel: int) -> NoReturn:
    """In a fork: become the interpreter, in the file system and surroundings of a program."""
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        # Out of the way first: one of them may have the number that the channel must have.
        root, package, channel = (
            fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 16) for fd in (root, package, channel)
        )
        os.dup2(channel, CHANNEL, inheritable=True)
        kernel.setns(root, kernel.CLONE_NEWNS)
        kernel.unshare(kernel.CLONE_NEWNS)
        kernel.attach_tree(package, rootfs.SCRATCH)
        _furnish(wish.shown)
        os.chdir(wish.directory)
        os.umask(0o022)
        _be_given_pipes()
        hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
        soft = stages.at_most(resource.RLIMIT_STACK, wish.stack_mb << 20)
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
        env = {**dict(wish.env), "PYTHONPATH": _HOOK}
        os.execve(wish.command[0], wish.command, env)  # noqa: S606
    except BaseException:
        os._exit(127)


def _furnish(shown: Sequence[tuple[str, bool]]) -> None:
    """What an interpreter and its rehearsal need. It is for them alone: boxes leave all of this."""
    plan = Plan(kernel.MACHINE)
    plan.stage("furnish")
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    for directory in (rootfs.WORKSPACE, "/tmp", "/dev/shm"):
        stages.mount(plan, "tmpfs", directory, flags)
    stages.show(plan, shown)
    stages.mount(plan, "proc", "/proc", flags)
    player.play(plan.template().content)


def _be_given_pipes() -> None:
    """For stdin, stdout and stderr, as programs have them: an interpreter looks at them once."""
    for number in (0, 1, 2):
        reader, writer = os.pipe()
        mine, other = (reader, writer) if number == 0 else (writer, reader)
        os.dup2(mine, number)
        os.close(mine)
        os.set_inheritable(other, True)  # kept open, so that nothing ever ends

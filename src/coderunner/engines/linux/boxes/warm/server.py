"""Inside a warm interpreter: takes orders for boxes and forks them."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from .. import inside, kernel, process1, protocol
from . import appearance, rehearsal
from .ending import Ending, keep
from .preload import CHANNEL, Preloaded

_ORDER_FDS = 9  # plan, channel, root, scratch, and one for each cgroup
_PACKAGES_OF_THE_USER = ".local"
# What `signal` is made of, which does more than is needed.
_signal: Any = sys.modules["_signal"]


def serve(preloaded: Preloaded) -> None:
    """Fork a box for each order. Returns in a fork that is to be a program, and nowhere else: who
    returned with an error would go on to run a program outside of its box."""
    try:
        hook = sys._getframe(1)  # which is over once we return
        keep((hook.f_code, hook.f_globals))
        del hook
        _serve(preloaded)
    except BaseException:
        os._exit(70)


def _serve(preloaded: Preloaded) -> None:
    channel = socket.socket(fileno=CHANNEL)
    received = protocol.receive(channel)
    if received is None:
        os._exit(0)
    library = process1.library() if received[0]["compiled"] else None
    fork = process1.fork if library is not None else inside.fork
    ways = _Ways(preloaded, library)
    preloaded.hide()  # once for all forks; what we need ourselves we have
    ways.ending.freeze()
    preloaded.let_go()
    kernel.trim_memory()
    written = rehearsal.watched(sys.argv[0])
    if written is None:
        ways.become(protocol.Job(sys.orig_argv, dict(os.environ), -1, -1, -1))
        return
    keep((written, channel, library, fork))
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # process 1 of a box must have no handlers
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the spawner watches, nobody waits
    appearance.ignore_what_posix_spawn_ignores()
    myself = os.pidfd_open(os.getpid())
    protocol.send(channel, protocol.encode({"op": "ready", "failed": preloaded.failed}))

    while True:
        packet, fds = protocol.receive_packet(channel, _ORDER_FDS)
        if not packet:
            os._exit(0)
        plan, *given = fds
        pidfd = fork(os.pread(plan, os.fstat(plan).st_size, 0), given, myself)
        if pidfd == 0:
            _begin(channel, partial(rehearsal.copy, written, library), ways)
            return
        protocol.send(channel, protocol.encode({"op": "forked"}), [pidfd])
        protocol.close_all([pidfd, *fds])


def _begin(channel: socket.socket, settle: Callable[[], None], ways: _Ways) -> None:
    """In the program's own process: get ready, wait for a job, become it. What was the line to the
    spawner is that of the box now."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        settle()
        inside.report(channel, {"ready": True})
        packet, stdio = protocol.receive_packet(channel)
        if not packet:
            os._exit(0)
        job = protocol.decode_job(packet)
        if not os.access(job.argv[0], os.X_OK):  # the interpreter was started by somebody else
            inside.report(channel, {"start_errno": errno.EACCES})
            os._exit(1)
        ways.become(job)
        inside.take(job, stdio)
        channel.detach()  # which is closed
    except BaseException as error:
        inside.report(channel, {"failed": f"warm start: {error!r}"})
        os._exit(1)
    ways.start_over_if_necessary()


class _Ways:
    """What is between a fork and a program that knows nothing of it."""

    _argv: list[str]
    _env: dict[str, str]

    def __init__(self, preloaded: Preloaded, library: ctypes.PyDLL | None) -> None:
        self._preloaded = preloaded
        self._appearance = appearance.Appearance()
        self._environment = dict(os.environ)
        self.ending = Ending(preloaded, library)

    def become(self, job: protocol.Job) -> None:
        """The last touches before the interpreter goes on as if it had just started."""
        argv, env = self._argv, self._env = job.argv, job.env
        _signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv[:] = argv[1:]
        sys.orig_argv[:] = argv
        if env != self._environment:
            os.environ.clear()
            os.environ.update(env)
        directory = _directory_of(argv[1])
        self._preloaded.withdraw_if_shadowed({n.partition(".")[0] for n in os.listdir(directory)})
        self._preloaded.renew()
        self.ending.prepare(directory)
        self._appearance.show(argv, env)
        ctypes.set_errno(0)

    def start_over_if_necessary(self) -> None:
        """A program may bring packages for its user, which an interpreter looks for when it
        starts. That time is over, so another one has to be started in its place."""
        if not os.path.lexists(os.path.join(self._env.get("HOME", ""), _PACKAGES_OF_THE_USER)):
            return
        for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored_by_python, signal.SIG_DFL)
        os.execve(self._argv[0], self._argv, self._env)  # noqa: S606 - no shell is wanted


def _directory_of(script: str) -> str:
    """Where the interpreter is going to look for modules first."""
    if os.path.islink(script):
        script = os.path.realpath(script)
    return os.path.dirname(script) or "."

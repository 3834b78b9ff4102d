"""Inside a warm interpreter: takes orders for boxes and forks them."""

from __future__ import annotations

import gc
import os
import socket
import sys
from functools import partial

import _signal

from .. import inside, kernel, protocol
from . import rehearsal
from .preload import CHANNEL, Preloaded

_ORDER_FDS = 8  # channel, root, scratch, and one for each cgroup


def serve(preloaded: Preloaded) -> None:
    """Fork a box for each order. Returns in a fork that is to be a program, and nowhere else: who
    returned with an error would go on to run a program outside of its box."""
    try:
        _serve(preloaded)
    except BaseException:
        os._exit(70)


def _serve(preloaded: Preloaded) -> None:
    channel = socket.socket(fileno=CHANNEL)
    received = protocol.receive(channel)
    if received is None:
        os._exit(0)
    fixed = received[0]["plan"]
    fixed["seccomp"] = bytes.fromhex(fixed["seccomp"])
    preloaded.hide()  # once for all forks; what we need ourselves we have
    gc.collect()
    gc.freeze()
    rehearsing = rehearsal.begin()
    if not rehearsing:
        return
    written = rehearsal.written_by(rehearsing)
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # process 1 of a box must have no handlers
    _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)  # the spawner watches, nobody waits
    myself = os.pidfd_open(os.getpid())
    protocol.send(channel, protocol.encode({"op": "ready", "failed": preloaded.failed}))

    while True:
        packet, fds = protocol.receive_packet(channel, _ORDER_FDS)
        if not packet:
            os._exit(0)
        kernel.unshare(kernel.CLONE_NEWPID)  # for the next child
        pid = os.fork()
        if pid == 0:
            _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
            plan = inside.plan({**fixed, **protocol.decode(packet)["plan"]}, fds)
            inside.run_warm(plan, partial(rehearsal.copy, written), partial(_become, preloaded))
            return
        pidfd = os.pidfd_open(pid)
        kernel.setns(myself, kernel.CLONE_NEWPID)
        protocol.send(channel, protocol.encode({"op": "forked", "pid": pid}), [pidfd])
        protocol.close_all([pidfd, *fds])


def _become(preloaded: Preloaded, job: protocol.Message) -> None:
    """The last touches before the interpreter goes on as if it had just started."""
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    sys.argv[:] = job["argv"][1:]
    sys.orig_argv[:] = job["argv"]
    if os.environ != job["env"]:
        os.environ.clear()
        os.environ.update(job["env"])
    preloaded.withdraw_if_shadowed({name.partition(".")[0] for name in os.listdir(".")})

"""Starting a command without any engine: the yardstick, and the way other sandboxes are started.

posix_spawn, two pipes and a wait: the least that a caller who wants exit code and output has to
pay, and less than `subprocess` or asyncio would add.
"""

from __future__ import annotations

import os
import select
from collections.abc import Mapping, Sequence

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
_CHUNK = 65536


class RunFailed(Exception):
    """A measured command did not do what it should; its figure would mean nothing."""


def run(argv: Sequence[str], env: Mapping[str, str] = ENVIRONMENT, stdin: bytes = b"") -> bytes:
    """Run a command to its end and return what it printed. `argv[0]` is a path."""
    given = _stdin(stdin)
    out, their_out = os.pipe2(os.O_CLOEXEC)
    err, their_err = os.pipe2(os.O_CLOEXEC)
    actions = [
        (os.POSIX_SPAWN_DUP2, given, 0),
        (os.POSIX_SPAWN_DUP2, their_out, 1),
        (os.POSIX_SPAWN_DUP2, their_err, 2),
    ]
    try:
        pid = os.posix_spawn(argv[0], tuple(argv), env, file_actions=actions)
    finally:
        for fd in (given, their_out, their_err):
            os.close(fd)
    printed = _drain(out, err)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        words = printed[err].decode(errors="replace").strip()[-300:]
        raise RunFailed(f"{argv[0]} ended with {code}: {words}")
    return printed[out]


def _stdin(data: bytes) -> int:
    """A file without a name, since a pipe may be too small for it all."""
    if not data:
        return os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    fd = os.memfd_create("stdin", os.MFD_CLOEXEC)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _drain(*fds: int) -> dict[int, bytes]:
    """Read all pipes to their end, side by side, so that none fills up. Closes them."""
    printed = dict.fromkeys(fds, b"")
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    left = len(fds)
    while left:
        for fd, _ in poll.poll():
            if chunk := os.read(fd, _CHUNK):
                printed[fd] += chunk
                continue
            poll.unregister(fd)
            os.close(fd)
            left -= 1
    return printed

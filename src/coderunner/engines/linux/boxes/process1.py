"""The compiled process 1, where there is one: `process1.c` says what it does.

It is built when the package is installed, if there is a C compiler. It knows nothing of Python: the
same two files serve every version. Where they are missing, or cannot be used, Python does the same,
more slowly.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Sequence

from . import plan

_HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = f"{_HERE}/process1"
LIBRARY = f"{_HERE}/libboxes.so"  # with `warm/ending.c`

_python = ctypes.PyDLL(None)  # not `ctypes.pythonapi`, which programs can look at


def program() -> str | None:
    """The path of the program, if it can be used here."""
    # (A file system may forbid to execute what lies on it. This asks for that, too.)
    usable = library() is not None and os.access(PROGRAM, os.X_OK)
    return PROGRAM if usable else None


def start(program: str, channel: int) -> tuple[int, int]:
    """A new process 1, which waits on this channel for its plan: its id and a descriptor."""
    ours = library()
    assert ours is not None
    pidfd = ctypes.c_int(-1)
    pid = int(ours.process1_start(os.fsencode(program), channel, ctypes.byref(pidfd)))
    if pid < 0:
        raise _error("new pid namespace")
    return pid, pidfd.value


def fork(packet: bytes, fds: Sequence[int], own_namespace: int) -> int:
    """As `inside.fork`, with hardly a page of the interpreter's memory touched."""
    ours = library()
    assert ours is not None
    numbers = (ctypes.c_int * len(fds))(*fds)
    _python.PyOS_BeforeFork()
    pidfd = int(ours.process1_fork(packet, numbers, len(fds), own_namespace))
    if pidfd == 0:
        _python.PyOS_AfterFork_Child()
        return 0
    error = _error("fork of a box")  # if it is one
    _python.PyOS_AfterFork_Parent()
    if pidfd < 0:
        raise error
    return pidfd


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


@functools.cache
def library() -> ctypes.PyDLL | None:
    """What the spawner and warm interpreters use of it."""
    try:
        found = ctypes.PyDLL(LIBRARY, use_errno=True)
        return found if found.process1_version() == plan.VERSION else None
    except (OSError, AttributeError):
        return None

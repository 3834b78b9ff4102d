"""Which modules can be imported ahead: found out by importing them in a fork that is thrown away.

A module that does something to the process when it is imported, or says something, must do so in
the program that imports it, and in no other. So it is left alone, as is one that cannot be
imported, does not come to an end, or starts threads that a fork would lose.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys

TYPE_CHECKING = False  # see `recorder.py`
if TYPE_CHECKING:
    from typing import Any

_signal: Any = sys.modules["_signal"]  # what `signal` is made of
_SECONDS = 10  # for all of them together, and then for each
_SIGNALS = (b"SigBlk:", b"SigIgn:", b"SigCgt:")
_INTERNAL = 0b11 << 31  # the C library's own: they are caught once there was a thread


def well_behaved(names: list[str]) -> list[str]:
    if not names or _is_well_behaved(names):
        return names
    return [name for name in names if _is_well_behaved([name])]


def _is_well_behaved(names: list[str]) -> bool:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _try(names, reader, writer)
    os.close(reader)
    os.close(writer)
    return os.waitpid(pid, 0)[1] == 0


def _try(names: list[str], reader: int, writer: int) -> None:
    try:
        _signal.alarm(_SECONDS)  # ends us
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        os.set_blocking(reader, False)
        before = _state()
        for name in names:
            __import__(name)
        _signal.alarm(_SECONDS)  # in case that was changed, too
        os._exit(0 if _state() == before and not _said_something(reader) else 1)
    except BaseException:
        os._exit(1)


def _said_something(reader: int) -> bool:
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        return bool(os.read(reader, 1))
    except BlockingIOError:
        return False


def _state() -> list[Any]:
    """What a process has beside its modules, as far as modules like to change it."""
    umask = os.umask(0o022)
    os.umask(umask)
    return [
        umask,
        os.getcwd(),
        dict(os.environ),
        sorted(os.listdir("/proc/self/fd")),
        _signals(),
        _thread._count(),
        _children(),
        gc.isenabled(),
        gc.get_threshold(),
        list(gc.callbacks),
        sys.getrecursionlimit(),
        sys.getswitchinterval(),
        sys.gettrace(),
        sys.getprofile(),
        [list(value) for value in (sys.path, sys.meta_path, sys.path_hooks, sys.argv)],
        [sys.stdin, sys.stdout, sys.stderr, sys.excepthook, sys.displayhook, sys.unraisablehook],
        dict(vars(sys.modules["builtins"])),
        _locale(),
    ]


def _signals() -> list[int]:
    """Handlers and masks, those that are set by C code included."""
    with open("/proc/self/status", "rb") as status:
        lines = [line.split() for line in status]
    return [int(line[1], 16) & ~_INTERNAL for line in lines if line[0] in _SIGNALS]


def _children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def _locale() -> str:
    import _locale

    return _locale.setlocale(_locale.LC_ALL)

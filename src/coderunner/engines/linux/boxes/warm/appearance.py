"""How a process looks in /proc: as one that was executed with this command and environment.

`cmdline` and `environ` are read from the memory of the process, from places that were fixed when it
was executed. It may name others. Kernels can be built without that; then the old ones stay.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Mapping, Sequence

from .. import kernel

_PR_SET_MM, _PR_SET_MM_MAP = 35, 14
# The fields of /proc/self/stat that say where things are, counted from the one after the name.
_CODE, _STACK, _DATA = slice(23, 25), 25, slice(42, 44)
_START_BRK = 44

_libc = ctypes.CDLL(None)
_libc.prctl.argtypes = (
    ctypes.c_int,
    ctypes.c_ulong,
    ctypes.c_void_p,
    ctypes.c_ulong,
    ctypes.c_ulong,
)
_libc.sbrk.restype = _libc.malloc.restype = ctypes.c_void_p
_libc.malloc.argtypes = (ctypes.c_size_t,)


# The C library keeps two signals for itself, and has them ignored in what it spawns.
_INTERNAL_SIGNALS = (32, 33)
_SYS_RT_SIGACTION = {"x86_64": 13, "aarch64": 134}
_Action = ctypes.c_ulong * 4  # handler, flags, restorer, mask


def ignore_what_posix_spawn_ignores() -> None:
    """Unless they are in use already."""
    for internal in _INTERNAL_SIGNALS:
        now = _Action()
        _sigaction(internal, None, now)
        if now[0] == signal.SIG_DFL:
            _sigaction(internal, _Action(signal.SIG_IGN), None)


def _sigaction(
    number: int, new: ctypes.Array[ctypes.c_ulong] | None, old: ctypes.Array[ctypes.c_ulong] | None
) -> None:
    call = ctypes.c_long(_SYS_RT_SIGACTION[kernel.MACHINE])
    _libc.syscall(call, ctypes.c_long(number), new, old, ctypes.c_size_t(8))


class _Map(ctypes.Structure):
    """struct prctl_mm_map"""

    _fields_ = (
        *((name, ctypes.c_uint64) for name in (
            "start_code", "end_code", "start_data", "end_data", "start_brk", "brk", "start_stack",
            "arg_start", "arg_end", "env_start", "env_end",
        )),
        ("auxv", ctypes.c_void_p),
        ("auxv_size", ctypes.c_uint32),
        ("exe_fd", ctypes.c_uint32),
    )  # fmt: skip


class Appearance:
    def __init__(self) -> None:
        with open("/proc/self/stat", "rb") as file:
            fields = [*file.read().rpartition(b")")[2].split()]
        numbers = [int(field) if field.isdigit() else 0 for field in fields]
        self._start_code, self._end_code = numbers[_CODE]
        self._start_stack = numbers[_STACK]
        self._start_data, self._end_data = numbers[_DATA]
        self._start_brk = numbers[_START_BRK]

    def show(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        words = _block(argv)
        pairs = _block([f"{name}={value}" for name, value in env.items()])
        start = _libc.malloc(len(words + pairs))  # never freed: the kernel may read it at any time
        ctypes.memmove(start, words + pairs, len(words + pairs))
        between = start + len(words)
        wanted = _Map(
            self._start_code, self._end_code, self._start_data, self._end_data,
            self._start_brk, _libc.sbrk(0), self._start_stack,
            start, between, between, between + len(pairs),
            None, 0, 0xFFFFFFFF,
        )  # fmt: skip
        size = ctypes.sizeof(wanted)
        _libc.prctl(_PR_SET_MM, _PR_SET_MM_MAP, ctypes.addressof(wanted), size, 0)


def _block(texts: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(text) + b"\0" for text in texts)

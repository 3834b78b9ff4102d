"""Which memory a program touches, learnt by running one.

A fork shares its memory with the interpreter until it writes to it; then the kernel copies, page by
page, a few microseconds each. Even the shortest program writes to hundreds of pages: every object
it looks at counts references. So one is run to its end before the first box is made, to see which
pages these are, and every box has them copied while it waits for its job.
"""

from __future__ import annotations

import ctypes
import os
import signal

_PROGRAM = b"print(1)\n"
_PRESENT, _EXCLUSIVE = 1 << 63, 1 << 56  # in /proc/<pid>/pagemap
_POPULATE_WRITE = 23
_PAGE = os.sysconf("SC_PAGE_SIZE")

Ranges = list[tuple[int, int]]  # addresses and lengths

_libc = ctypes.CDLL(None)
_libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def begin(script: str) -> int:
    """Fork. In the child, where this returns 0, a program is to be run as programs are; when the
    interpreter has taken itself down, the child stops instead of ending."""
    if folder := os.path.dirname(script):
        os.makedirs(folder)
    with open(script, "wb") as file:  # in bytes: a codec once used is not loaded again
        file.write(_PROGRAM)
    pid = os.fork()
    if pid == 0:
        _libc.__cxa_atexit(_libc["raise"], ctypes.c_void_p(signal.SIGSTOP), None)
    return pid


def written_by(pid: int) -> Ranges:
    """Wait for the child to stop, and see what it does not share with us any more."""
    _, status = os.waitpid(pid, os.WUNTRACED)
    try:
        return _exclusive(pid) if os.WIFSTOPPED(status) else []
    finally:
        if os.WIFSTOPPED(status):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _exclusive(pid: int) -> Ranges:
    ranges: Ranges = []
    with open(f"/proc/{pid}/maps", "rb") as maps:
        areas = [line.split(None, 2)[:2] for line in maps]
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap:
        for addresses, permissions in areas:
            if permissions != b"rw-p":
                continue
            start, end = (int(address, 16) for address in addresses.split(b"-"))
            pagemap.seek(start // _PAGE * 8)
            entries = memoryview(pagemap.read((end - start) // _PAGE * 8)).cast("Q")
            for number, entry in enumerate(entries):
                if entry & _PRESENT and entry & _EXCLUSIVE:
                    _append(ranges, start + number * _PAGE)
    return ranges


def _append(ranges: Ranges, address: int) -> None:
    if ranges and sum(ranges[-1]) == address:
        ranges[-1] = (ranges[-1][0], ranges[-1][1] + _PAGE)
    else:
        ranges.append((address, _PAGE))


def copy(ranges: Ranges) -> None:
    """Have the kernel make our own copies now. Where it cannot, they are made when needed."""
    for start, length in ranges:
        _libc.madvise(start, length, _POPULATE_WRITE)

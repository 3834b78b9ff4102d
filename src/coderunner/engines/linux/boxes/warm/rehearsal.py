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
from array import array
from typing import NoReturn

_PROGRAM = b"print(1)\n"
_PRESENT, _EXCLUSIVE = 1 << 63, 1 << 56  # in /proc/<pid>/pagemap
_POPULATE_WRITE = 23
_PAGE = os.sysconf("SC_PAGE_SIZE")

_libc = ctypes.CDLL(None)
_libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def watched(script: str) -> array[int] | None:
    """Which memory a program writes to: addresses and lengths, in turn. None in the process that is
    to run one, as programs are run.

    A third process starts it and looks at it. What we write to after a fork is not shared any more
    either, so we do nothing until then."""
    if folder := os.path.dirname(script):
        os.makedirs(folder)
    with open(script, "wb") as file:  # in bytes: a codec once used is not loaded again
        file.write(_PROGRAM)
    reader, writer = os.pipe()
    watcher = os.fork()
    if watcher == 0:
        program = os.fork()
        if program == 0:
            # When the interpreter has taken itself down, it stops instead of ending.
            _libc.__cxa_atexit(_libc["raise"], ctypes.c_void_p(signal.SIGSTOP), None)
            os.close(reader)
            os.close(writer)
            return None
        _watch(program, writer)
    os.close(writer)
    with open(reader, "rb") as report:
        written = array("Q", report.read())
    os.waitpid(watcher, 0)
    return written


def _watch(pid: int, report: int) -> NoReturn:
    """Wait for it to stop, and tell what it does not share with anybody."""
    try:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            with open(report, "wb") as file:
                file.write(_exclusive(pid))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    finally:
        os._exit(0)


def _exclusive(pid: int) -> array[int]:
    ranges = array("Q")
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


def _append(ranges: array[int], address: int) -> None:
    if ranges and ranges[-2] + ranges[-1] == address:
        ranges[-1] += _PAGE
    else:
        ranges.extend((address, _PAGE))


def copy(ranges: array[int], library: ctypes.PyDLL | None) -> None:
    """Have the kernel make our own copies now. Where it cannot, they are made when needed."""
    if library is not None:
        address, items = ranges.buffer_info()
        library.process1_copy(ctypes.c_void_p(address), ctypes.c_size_t(items // 2))
        return
    numbers = iter(ranges)
    for start, length in zip(numbers, numbers, strict=True):
        _libc.madvise(start, length, _POPULATE_WRITE)

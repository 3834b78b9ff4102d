"""Runs in a box, as a script: breaks one limit, named by its argument, as hard as it can.

Where the limit refuses (a full disk), it prints what happened; where it kills, it does not come
back. Where nothing stops it, it stops by itself, soon and having done no harm.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import sys
import threading
import time

_LINGER_S = 2.0  # long enough for every sampler to look
_MB = 1 << 20


def memory() -> None:
    """Four times what is allowed."""
    blocks = [b"x" * _MB for _ in range(256)]
    time.sleep(_LINGER_S)
    print(f"{len(blocks)} MB taken")


def memory_of_tree() -> None:
    """Each process takes less than the limit, all of them together more."""
    for _ in range(5):
        if os.fork() == 0:
            block = b"x" * (40 * _MB)
            time.sleep(_LINGER_S)
            os._exit(len(block) and 0)
    _wait_for_children()
    print("5 x 40 MB taken")


def processes() -> None:
    """Refused or not, those that were started stay for a while, to be seen by a sampler."""
    started = 0
    with contextlib.suppress(OSError):
        for _ in range(64):
            if os.fork() == 0:
                time.sleep(_LINGER_S)
                os._exit(0)
            started += 1
    _wait_for_children()
    print(_refused_after(started, "processes"))


def threads() -> None:
    started = 0
    with contextlib.suppress(RuntimeError):
        for _ in range(64):
            threading.Thread(target=time.sleep, args=(_LINGER_S,)).start()
            started += 1
    time.sleep(_LINGER_S)
    print(_refused_after(started, "threads"))


def cpu_time() -> None:
    """In two processes: the limit is for all of them."""
    pid = os.fork()
    while time.process_time() < _LINGER_S:  # however busy the machine is
        pass
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    print(f"{2 * _LINGER_S:.0f} s of cpu time used")


def wall_time() -> None:
    time.sleep(_LINGER_S)
    print("slept through it")


def output() -> None:
    for _ in range(16):
        os.write(1, b"x" * _MB)
    os.write(2, b"16 MB written")


def disk() -> None:
    """In many files, each of which is small enough."""
    total = 0
    for number in range(32):
        with open(f"file-{number}", "wb", buffering=0) as file:
            total += _write(file.fileno(), b"x" * _MB)
            if total < (number + 1) * _MB:
                break
    print(f"refused {total // 1024} KB" if total < 32 * _MB else "32 MB written")


def files() -> None:
    for number in range(400):
        try:
            os.close(os.open(f"file-{number}", os.O_CREAT | os.O_WRONLY, 0o600))
        except OSError as error:
            print(f"refused file {number} ({errno.errorcode[error.errno or 0]})")
            return
    print("400 files made")


def open_files() -> None:
    try:
        descriptors = [os.open("/dev/null", os.O_RDONLY) for _ in range(400)]
    except OSError as error:
        print(f"refused to open more ({errno.errorcode[error.errno or 0]})")
        return
    print(f"{len(descriptors)} files open")


def address_space() -> None:
    try:
        mmap.mmap(-1, 1024 * _MB)  # taken, not touched
    except (OSError, MemoryError):
        print("refused 1 GB")
        return
    print("1 GB mapped")


def cpus() -> None:
    before = time.process_time()
    _spin(0.6)
    share = (time.process_time() - before) / 0.6
    print(f"refused more than {share:.2f} cores" if share < 0.5 else f"{share:.2f} cores used")


def daemon() -> None:
    """Leaves a process behind that has a session and a parent of its own."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.close(reader)
            os.set_inheritable(writer, False)  # closed by exec: the sign that it lives
            for fd in (0, 1, 2):
                os.close(fd)
            sleeper = "import sys, time; time.sleep(30)"
            command = [sys.executable, "-I", "-S", "-c", sleeper, sys.argv[2]]
            os.execv(command[0], command)  # noqa: S606
        os._exit(0)
    os.close(writer)
    os.read(reader, 1)
    print("a daemon was started")


def _refused_after(count: int, what: str) -> str:
    return f"refused more than {count} {what}" if count < 64 else f"{count} {what} started"


def _wait_for_children() -> None:
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


def _write(fd: int, data: bytes) -> int:
    try:
        return os.write(fd, data)
    except OSError:
        return 0


def _spin(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


if __name__ == "__main__":
    globals()[sys.argv[1]]()

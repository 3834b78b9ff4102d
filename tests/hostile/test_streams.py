"""Tricks with the three pipes between a program and its caller.

The program holds only its own ends, but it can open them again, change their size and mode, and
pass them on. Whatever it does: the caller gets what was written, and gets it in time.
"""

from __future__ import annotations

import pytest

from coderunner.model import File, Limits, Program
from tests.hostile.arena import Arena
from tests.support import require_toolchain

pytestmark = pytest.mark.hostile

LARGE = 300_000
INPUT = b"i" * LARGE

# What it does, and what is to be seen on stdout.
TRICKS: dict[str, tuple[str, bytes]] = {
    "streams that do not block": (
        """
for fd in (0, 1, 2):
    os.set_blocking(fd, False)
rest = memoryview(b"o" * 300_000)
while rest:
    try:
        rest = rest[os.write(1, rest):]
    except BlockingIOError:
        time.sleep(0.001)
""",
        b"o" * LARGE,
    ),
    "one packet for each byte": (
        """
fcntl.fcntl(1, fcntl.F_SETFL, os.O_WRONLY | os.O_DIRECT)
fcntl.fcntl(1, 1031, 1 << 20)  # F_SETPIPE_SZ
for _ in range(2000):
    os.write(1, b"o")
""",
        b"o" * 2000,
    ),
    "a pipe full at the end": (
        """
size = fcntl.fcntl(1, 1031, 1 << 20)
os.set_blocking(1, False)
os.write(1, b"o" * 300_000)
os.kill(os.getpid(), 9)
""",
        b"o" * LARGE,
    ),
    "the smallest pipe": (
        """
for fd in (1, 2):
    fcntl.fcntl(fd, 1031, 4096)
sys.stdout.write("o" * 300_000)
""",
        b"o" * LARGE,
    ),
    "writing into its own input": (
        """
back = os.open("/proc/self/fd/0", os.O_WRONLY | os.O_NONBLOCK)
try:
    while True:
        os.write(back, b"x" * 65536)
except BlockingIOError:
    print("full")
""",
        b"full\n",
    ),
    "holding its own input open": (
        """
os.open("/proc/self/fd/0", os.O_RDWR)
for fd in (0, 0):
    print(len(os.read(0, 1)))
""",
        b"1\n1\n",
    ),
    "reading its own output": (
        """
back = os.open("/proc/self/fd/1", os.O_RDWR)
os.write(1, b"first")
os.set_blocking(back, False)
try:
    os.read(back, 5)  # either it was faster or the caller
except BlockingIOError:
    pass
os.close(back)
""",
        b"?",
    ),
    "no rights to its own streams": (
        """
for fd in (0, 1, 2):
    os.fchmod(fd, 0)
    os.utime(fd)
print("still")
""",
        b"still\n",
    ),
    "nothing open": ("os.closerange(0, 1024); os._exit(0)", b""),
    "signals for whoever looks after it": (
        """
for fd in (0, 1, 2):
    for pid in (1, -1, os.getppid(), os.getpid()):
        try:
            fcntl.fcntl(fd, fcntl.F_SETOWN, pid)
            fcntl.fcntl(fd, fcntl.F_SETSIG, 9 if pid == 1 else 0)
            fcntl.fcntl(fd, fcntl.F_SETFL, os.O_ASYNC)
        except OSError:
            pass
    fcntl.fcntl(fd, fcntl.F_SETOWN, 0)
print("still")
""",
        b"still\n",
    ),
    "its streams on their way to nobody": (
        """
print("sent", flush=True)
one, other = socket.socketpair()
third, fourth = socket.socketpair()
for fd in (0, 1, 2):
    socket.send_fds(one, [b"x"], [fd, third.fileno(), other.fileno()])
    socket.send_fds(third, [b"x"], [fd, one.fileno(), other.fileno(), fourth.fileno()])
""",
        b"sent\n",
    ),
    "its output in the hands of a daemon": (
        """
print("gone", flush=True)
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)
""",
        b"gone\n",
    ),
    "large holes": (
        """
with open("hole", "wb") as file:
    file.truncate(300_000)
with open("hole", "rb") as file:
    sent = 0
    while sent < 300_000:
        sent += os.sendfile(1, file.fileno(), sent, 1 << 30)
""",
        bytes(LARGE),
    ),
    "changed after it was sent": (
        """
with open("file", "w+b", buffering=0) as file:
    file.write(b"o" * 4096)
    os.sendfile(1, file.fileno(), 0, 4096)
    os.pwrite(file.fileno(), b"x" * 4096, 0)
""",
        b"?",
    ),
}


# They ask for what its kernel does not have, or does not allow.
OTHERWISE_ON_GVISOR = (
    "one packet for each byte",
    "no rights to its own streams",
    "signals for whoever looks after it",
)


@pytest.mark.parametrize("trick", TRICKS)
async def test_the_caller_gets_what_was_written(arena: Arena, trick: str) -> None:
    source, expected = TRICKS[trick]
    imports = "import fcntl, os, signal, socket, sys, time\n"
    program = Program("python", (File("main.py", (imports + source).encode()),))
    result = await arena.run(program, stdin=INPUT, limits=Limits(wall_ms=20_000))
    outcome = result.outcome
    assert outcome.ended_by.value in ("exit", "signal")  # not for want of time
    if arena.on_gvisor and trick in OTHERWISE_ON_GVISOR:
        return
    assert outcome.stderr.text == ""
    if expected != b"?":
        assert outcome.stdout.data == expected


async def test_tee_and_splice_in_c(arena: Arena) -> None:
    """Passing on pages of a pipe instead of bytes."""
    require_toolchain("c")
    source = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
int main(void) {
    int pair[2];
    pipe(pair);
    long got;
    while ((got = tee(0, pair[1], 4096, 0)) > 0) {
        for (long left = got; left > 0;) left -= splice(0, 0, 1, 0, left, 0);
        for (long left = got; left > 0;) left -= splice(pair[0], 0, 2, 0, left, 0);
    }
}
"""
    program = Program("c", (File("main.c", source.encode()),))
    result = await arena.run(program, stdin=INPUT)
    assert (result.outcome.stdout.data, result.outcome.stderr.data) == (INPUT, INPUT)

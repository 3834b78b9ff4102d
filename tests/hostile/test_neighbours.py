"""Two programs at once: one must not notice the other, nor keep it from running.

Boxes of an ordinary user all have that user's uid outside, and the kernel has quotas for a uid.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from coderunner import Runner
from coderunner.capture import Sink
from coderunner.model import File, Limits, Program, Result, Stream
from tests.hostile.arena import Arena
from tests.hostile.conftest import ON_LINUX, ON_THE_HOSTS_KERNEL
from tests.support import require_toolchain

pytestmark = pytest.mark.hostile

PATIENCE_S = 60


def python(source: str) -> Program:
    return Program("python", (File("main.py", source.encode()),))


@asynccontextmanager
async def beside(arena: Arena, source: str, limits: Limits | None = None) -> AsyncIterator[None]:
    """While this lasts, so does a program, which has said something and now waits."""
    said, sink = ear()
    run = arena.runner.run(python(source + WAIT), limits=limits, sink=sink)
    running, waiting = asyncio.create_task(run), asyncio.create_task(said.wait())
    try:
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        assert not running.done(), running.result().stderr
        yield
        assert not running.done(), running.result().stderr
    finally:
        running.cancel()
        waiting.cancel()
        await asyncio.wait({running, waiting})
    await arena.check_alive()


def ear() -> tuple[asyncio.Event, Sink]:
    """Something that happens when a program says something."""
    said = asyncio.Event()

    async def sink(stream: Stream, data: bytes) -> None:
        said.set()

    return said, sink


WAIT = """
import time
print("ready", flush=True)
time.sleep(60)
"""


async def in_time(arena: Arena, program: Program, limits: Limits | None = None) -> Result:
    run = arena.runner.run(program, limits=limits, collect=["out"])
    return await asyncio.wait_for(run, PATIENCE_S)


async def test_47_two_boxes_on_one_port(arena: Arena) -> None:
    server = """
import socket
servers = [socket.create_server(("127.0.0.1", 7777)), socket.create_server(("0.0.0.0", 7778)),
           socket.create_server(("::1", 7777), family=socket.AF_INET6)]
for server in servers:
    socket.create_connection(server.getsockname()[:2]).close()  # it can be reached from inside
by_name = socket.socket(socket.AF_UNIX)
by_name.bind("\\0hostile-meeting")
by_name.listen()
"""
    client = """
import errno, socket
for address in (("127.0.0.1", 7777), ("127.0.0.1", 7778), ("::1", 7777)):
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    print(errno.errorcode[socket.socket(family).connect_ex(address)])
print(errno.errorcode[socket.socket(socket.AF_UNIX).connect_ex("\\0hostile-meeting")])
"""
    async with beside(arena, server):
        met = await in_time(arena, python(client))
        assert met.stdout.split() == ["ECONNREFUSED"] * 4, met.stderr
        same = await in_time(arena, python(server + "print('mine')"))
        assert same.stdout == "mine\n", same.stderr


async def test_they_do_not_see_each_other(arena: Arena) -> None:
    hider = """
import ctypes, os, pathlib
for place in ("/tmp", "/dev/shm", "/workspace"):
    pathlib.Path(place, "hostile-hider").write_text("here")
ctypes.CDLL(None).prctl(15, b"hostile-hider", 0, 0, 0)
libc = ctypes.CDLL(None)
libc.semget(77, 1, 0o1666)
"""
    seeker = """
import os, pathlib
print([f"{folder}/{name}" for top in ("/tmp", "/dev/shm", "/workspace")
       for folder, _, names in os.walk(top) for name in names if name != "main.py"])
print([name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()])
sem = pathlib.Path("/proc/sysvipc/sem")  # which gVisor does not have
print(len(sem.read_text().splitlines()) if sem.exists() else 1)
"""
    async with beside(arena, hider):
        found = await in_time(arena, python(seeker))
        others = "['1']" if arena.in_containers else "[]"  # its own warden
        assert found.stdout.splitlines() == ["[]", others, "1"], found.stderr


@pytest.fixture
def usual_descriptors() -> Iterator[None]:
    """A caller with as many descriptors as most systems give."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, before[1]), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


# A user may only have so many descriptors on their way through sockets.
IN_FLIGHT = """
import errno, os, socket
null, kept = os.open("/dev/null", 0), []
try:
    while True:
        kept.append(socket.socketpair())
        socket.send_fds(kept[-1][0], [b"x"], [null] * 250)
except OSError as error:
    assert error.errno == errno.ETOOMANYREFS
"""
# A user's pipes may only hold so much, together. (Beyond it they get smaller.)
PIPES = """
import errno, fcntl, os
kept = []
try:
    while True:
        kept.append(os.pipe())
        fcntl.fcntl(kept[-1][0], 1031, 1 << 20)  # F_SETPIPE_SZ
except OSError as error:
    assert error.errno == errno.EPERM
try:
    while True:
        kept.append(os.pipe())
except OSError as error:
    assert error.errno == errno.EMFILE
"""
# Locks that anybody may take on files that anybody may read, which are the host's.
LOCKS = """
import fcntl, os, sys
locked = []
def lock(path):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        locked.append(path)
    except OSError:
        pass
for path in ("/", "/usr", "/lib", "/dev/null", "/usr/bin/env", "/bin/sh", sys.executable):
    lock(path)
for top in ("/etc", "/workspace", "/usr/bin", "/usr/lib/gcc", os.path.dirname(os.__file__)):
    for folder, _, names in os.walk(top):
        for path in (folder, *(os.path.join(folder, name) for name in names)):
            lock(path)
        if len(locked) > 1000:
            break
assert len(locked) > 100, locked
"""
# Processes and threads of a user are counted, as are the signals that wait for them.
PROCESSES = """
import os, signal, threading, time
signal.pthread_sigmask(signal.SIG_BLOCK, range(34, 60))
me = os.pidfd_open(os.getpid())
for _ in range(100):
    if os.fork() == 0:
        time.sleep(60)
for _ in range(50):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
try:
    for number in range(200_000):
        signal.pidfd_send_signal(me, 34 + number % 26)
except OSError:
    pass
"""
HOGS = {"descriptors in flight": IN_FLIGHT, "pipes": PIPES, "locks": LOCKS, "processes": PROCESSES}


@pytest.mark.usefixtures("usual_descriptors")
@pytest.mark.parametrize("hog", HOGS)
@ON_THE_HOSTS_KERNEL
async def test_others_run_beside_one_who_takes_all(arena: Arena, hog: str) -> None:
    require_toolchain("c")
    hello = b'#include <stdio.h>\nint main(void) { puts("hello"); fopen("out", "w"); }'
    limits = Limits(wall_ms=60_000, open_files=4096)
    async with beside(arena, HOGS[hog], limits):
        for _ in range(2):
            result = await in_time(arena, Program("c", (File("main.c", hello),)))
            assert result.stdout == "hello\n", result.stderr
            assert [file.name for file in result.files] == ["out"]
        # A runner that starts only now finds what it needs as well.
        async with Runner.open(arena.runner.settings) as another:
            late = another.run(Program("bash", (File("main.sh", b"echo hello"),)))
            assert (await asyncio.wait_for(late, PATIENCE_S)).stdout == "hello\n"


@ON_LINUX  # it is about what the spawner may have open
async def test_one_who_takes_all_does_not_end_those_who_were_there_before(arena: Arena) -> None:
    """Their files come back over a socket, too."""
    (began, sink), go_on = ear(), asyncio.Event()

    async def stdin() -> AsyncIterator[bytes]:
        await go_on.wait()
        yield b"go on\n"

    early = python("print('began', flush=True); open('out', 'w').write(input())")
    run = arena.runner.run(early, stdin=stdin(), sink=sink, collect=["out"])
    running = asyncio.create_task(run)
    await began.wait()
    # As many as the spawner itself may have.
    most = Limits(wall_ms=60_000, open_files=65_536)
    async with beside(arena, IN_FLIGHT, most):
        go_on.set()
        result = await asyncio.wait_for(running, PATIENCE_S)
    assert [(file.name, file.content) for file in result.files] == [("out", b"go on")]

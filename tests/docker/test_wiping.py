"""What one job leaves in a warm container, the next one does not find."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from coderunner.engines.docker import DockerEngine
from coderunner.model import EndedBy
from coderunner.settings import DockerSettings
from coderunner.workspace import Workspace
from tests.docker.daemon import IMAGE
from tests.engines.bench import Bench

pytestmark = [
    pytest.mark.engines,
    pytest.mark.as_root,
    pytest.mark.asyncio(loop_scope="module"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(dockerd: str) -> AsyncIterator[DockerEngine]:
    """One for all of these tests: what one of them left, the others had to bear."""
    engine = DockerEngine(DockerSettings(host=dockerd, image=IMAGE, warm=4))
    yield engine
    await engine.aclose()


@pytest.fixture
def warm(engine: DockerEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    # On a busy machine wiping takes its time, and a job would not wait so long for it.
    monkeypatch.setattr("coderunner.engines.docker.pool._WIPED_SOON_S", 30.0)
    with Workspace() as workspace:
        yield Bench(engine, workspace, image=True)


# What a program leaves, and how the next one would see it (it prints nothing if all is well).
LEAVES = {
    "files": (
        "import os\n"
        "for top in ('/workspace', '/tmp', '/dev/shm', '/dev/mqueue'):\n"
        "    for name in (b'x', b'.x', b'\\xff\\n\\x1b', b'-rf'):\n"
        "        try: open(os.path.join(top.encode(), name), 'wb').close()\n"
        "        except OSError: assert 'mqueue' in top\n"
        "os.mkfifo('fifo'); os.symlink('/', 'link'); os.makedirs('d/e'); os.chmod('d/e', 0)\n"
        "os.chmod('d', 0o555)",
        "import os\n"
        "print(*(os.listdir(top) for top in ('.', '/tmp', '/dev/shm', '/dev/mqueue')\n"
        "        if os.listdir(top)))",
    ),
    "a workspace of its own making": (
        "import os\n"
        "os.setxattr('.', 'user.word', b'left')\n"
        "os.utime('.', (1, 1))\n"
        "os.chmod('.', 0)",
        "import os, time\n"
        "status = os.stat('.')\n"
        "if status.st_mode != 0o40755 or time.time() - status.st_mtime > 60: print(status)\n"
        "if os.listxattr('.'): print(os.listxattr('.'))",
    ),
    "directories that go deep": (
        "import os\nfor _ in range(5000): os.mkdir('d'); os.chdir('d')",
        "import os\nprint(*os.listdir('.'))",
    ),
    "a file without a name, on its way through a socket": (
        "import os, socket\n"
        "a, b = socket.socketpair()\n"
        "file = os.open('/tmp', os.O_TMPFILE | os.O_RDWR)\n"
        "os.write(file, b'x' * (8 << 20))\n"
        "socket.send_fds(a, [b'x'], [file, a.fileno(), b.fileno()])",
        "import os\nroom = os.statvfs('/tmp')\nif room.f_bfree != room.f_blocks: print(room)",
    ),
    "objects of System V": (
        "import ctypes\n"
        "libc = ctypes.CDLL(None)\n"
        "assert libc.shmget(77, 4096, 0o1666) >= 0\n"
        "assert libc.msgget(77, 0o1666) >= 0\n"
        "assert libc.semget(77, 1, 0o1666) >= 0",
        "for kind in ('shm', 'msg', 'sem'): print(*open(f'/proc/sysvipc/{kind}').readlines()[1:])",
    ),
    "others that live on": (
        "import os, signal, time\n"
        "for _ in range(20):\n"
        "    if not os.fork():\n"
        "        os.setsid()\n"
        "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "        time.sleep(60)",
        "import os\npids = [n for n in os.listdir('/proc') if n.isdigit()]\n"
        "if len(pids) != 2: print(pids)",
    ),
    "its limits and its place in the queue": (
        "import os, resource\n"
        "os.umask(0); os.nice(5)\n"
        "for pid in (0, 1):\n"
        "    try: resource.prlimit(pid, resource.RLIMIT_NOFILE, (99, 99))\n"
        "    except OSError: pass\n"
        "for path in ('/proc/1/oom_score_adj', '/proc/self/oom_score_adj'):\n"
        "    try: open(path, 'w').write('999')\n"
        "    except OSError: pass",
        "import os, resource\n"
        "found = os.umask(0), os.nice(0), resource.getrlimit(resource.RLIMIT_NOFILE)[0]\n"
        "if found != (0o22, 0, 1024): print(found)\n"
        "if open('/proc/1/oom_score_adj').read() != '500\\n': print('oom')",
    ),
    "pipes that do not wait": (
        "import fcntl, os\n"
        "for fd in (0, 1, 2):\n"
        "    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)\n"
        "    fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 1 << 20)\n"
        "    os.open(f'/proc/self/fd/{fd}', os.O_RDWR)",
        "import fcntl, os\n"
        "for fd in (0, 1, 2):\n"
        "    if fcntl.fcntl(fd, fcntl.F_GETFL) & (os.O_NONBLOCK | os.O_ASYNC): print(fd)\n"
        "    if fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ) != 65536: print(fd)",
    ),
    "locks, timers and signals": (
        "import fcntl, os, signal\n"
        "file = open('/tmp/lock', 'w'); fcntl.lockf(file, fcntl.LOCK_EX)\n"
        "for number in range(1, 65):\n"
        "    try: os.kill(1, number)\n"
        "    except OSError: pass\n"
        "signal.setitimer(signal.ITIMER_REAL, 2)",
        "import time\n"
        "time.sleep(2.1)\n"
        "locks = [line for line in open('/proc/locks') if line.split()[4] != '-1']\n"
        "print(*locks)",
    ),
}


# The kernel lets go of it when it comes to that; until then the container is not clean.
SOME_TIME_LATER = {"a file without a name, on its way through a socket"}


@pytest.mark.parametrize("what", LEAVES)
async def test_what_one_leaves_the_next_does_not_find(warm: Bench, what: str) -> None:
    leave, look = LEAVES[what]
    left = await warm.python(leave, stdin=b"x" * 300_000)
    assert left.exit_code == 0, left.stderr
    seen = await warm.python(look)
    assert (seen.stdout.data.strip(), seen.stderr.data) == (b"", b"")
    if what not in SOME_TIME_LATER:
        assert (seen.warm, seen.container) == (True, left.container)


async def test_a_connection_that_outlives_its_program(warm: Bench) -> None:
    """TIME_WAIT keeps a port for a minute: the next program must not notice."""
    source = (
        "import socket\n"
        "server = socket.socket(); server.bind(('127.0.0.1', 7777)); server.listen()\n"
        "client = socket.create_connection(('127.0.0.1', 7777))\n"
        "end, _ = server.accept(); client.close(); end.close(); server.close()"
    )
    outcomes = [await warm.python(source) for _ in range(3)]
    assert [outcome.exit_code for outcome in outcomes] == [0, 0, 0]
    assert len({outcome.container for outcome in outcomes}) == 3


async def test_a_label_that_the_kernel_keeps(warm: Bench) -> None:
    """Sixteen bytes of it are the program's own choice, and everybody may read them."""
    source = (
        "import socket, struct\n"
        "path = '/proc/net/ip6_flowlabel'\n"
        "print(len(open(path).readlines()))\n"
        "number = struct.pack('!I', 0x12345)\n"
        "label = b'to the next one!' + number + struct.pack('=BBHHHI', 0, 255, 3, 6, 60, 0)\n"
        "socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).setsockopt(41, 32, label)\n"
        "print(len(open(path).readlines()))"
    )
    for _ in range(3):
        outcome = await warm.python(source)
        assert (outcome.stdout.data, outcome.stderr.data) == (b"1\n2\n", b"")


async def test_sockets_in_each_others_queues(warm: Bench) -> None:
    """The kernel comes to them some time after their program has ended: until then their names are
    taken, and the next program could connect to them."""
    leave = (
        "import socket\n"
        "def leave(*ends):\n"
        "    a, b = socket.socketpair()\n"
        "    socket.send_fds(a, [b'x'], [end.fileno() for end in (a, b, *ends)])\n"
        "server = socket.socket(socket.AF_UNIX); server.bind(b'\\0name'); server.listen()\n"
        "port = socket.socket(type=socket.SOCK_DGRAM); port.bind(('127.0.0.1', 7779))\n"
        "leave(server, port)\n"
        "for _ in range(200): leave()"
    )
    look = (
        "import socket\n"
        "socket.socket(type=socket.SOCK_DGRAM).bind(('127.0.0.1', 7779))\n"
        "print(socket.socket(socket.AF_UNIX).connect_ex(b'\\0name'))"
    )
    for _ in range(10):
        assert (await warm.python(leave)).exit_code == 0
        seen = await warm.python(look)
        assert (seen.stdout.data, seen.stderr.data) == (b"111\n", b"")


async def test_forks_at_the_deadline(warm: Bench) -> None:
    bomb = (
        "import os\n"
        "while True:\n"
        "    try:\n"
        "        if not os.fork(): os.setsid()\n"
        "    except OSError: pass"
    )
    for _ in range(3):
        outcome = await warm.python(bomb, wall_ms=300, processes=64)
        assert outcome.ended_by in (EndedBy.WALL_TIME, EndedBy.PROCESSES)
        count = "import os; print(sum(name.isdigit() for name in os.listdir('/proc')))"
        assert (await warm.python(count, processes=64)).stdout.data == b"2\n"


async def test_a_small_one_after_a_large_one(warm: Bench) -> None:
    large = await warm.python("x = bytearray(100 << 20)")
    small = await warm.python("x = bytearray(30 << 20); import time; time.sleep(0.1)")
    files = await warm.python("open('/tmp/x', 'wb').write(bytes(40 << 20))")
    assert large.usage.memory_peak_kb > 100 << 10
    assert 30 << 10 < small.usage.memory_peak_kb < 50 << 10
    assert 40 << 10 < files.usage.memory_peak_kb < 90 << 10
    assert (small.warm, files.warm) == (True, True)


async def test_the_peak_after_one_that_has_filled_the_caches(warm: Bench) -> None:
    """What the kernel remembers for the former one makes room for the next one."""
    names = (
        "import os\n"
        "for number in range(300_000):\n"
        "    try: os.stat(f'/usr/{number:0200}')\n"
        "    except OSError: pass"
    )
    children = (
        "import os, time\n"
        "for _ in range(8):\n"
        "    if not os.fork(): x = bytearray(10 << 20); time.sleep(0.5); os._exit(0)\n"
        "for _ in range(8): os.wait()"
    )
    assert (await warm.python(names, memory_mb=100)).exit_code == 0
    outcome = await warm.python(children, memory_mb=100)
    assert (outcome.exit_code, outcome.warm) == (0, True)
    assert outcome.usage.memory_peak_kb > 75 << 10


async def test_limits_hold_again_and_again(warm: Bench) -> None:
    for _ in range(3):
        hog = await warm.python("x = bytearray(200 << 20)", memory_mb=64)
        assert (hog.ended_by, hog.usage.memory_peak_kb > 60 << 10) == (EndedBy.MEMORY, True)
        full = await warm.python("open('/tmp/x', 'wb').write(bytes(9 << 20))", disk_mb=8)
        assert (full.ended_by, b"Error" in full.stderr.data) != (EndedBy.EXIT, False)
        fits = await warm.python("open('/tmp/x', 'wb').write(bytes(7 << 20))", disk_mb=8)
        assert fits.ok, fits.stderr
        busy = await warm.sh("while :; do :; done", cpu_ms=100)
        assert busy.ended_by is EndedBy.CPU_TIME
        assert (await warm.sh("true", cpu_ms=100)).usage.cpu_ms < 100

"""The process engine, with real processes: limits, ends, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from coderunner.capture import communicate
from coderunner.engines.base import State
from coderunner.engines.linux.boxes import sampling
from coderunner.engines.process import ProcessEngine
from coderunner.engines.process.scratch import Scratch
from coderunner.engines.process.supervisor import reason
from coderunner.errors import EngineUnavailable, StartFailed
from coderunner.model import EndedBy, Exit, File, Isolation, Job, Limits, Mount, Output, Stream
from coderunner.workspace import Workspace, collect
from coderunner.workspace.root import process_root

pytestmark = pytest.mark.engines

PYTHON = sys.executable
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace() as workspace:
        yield workspace


@pytest.fixture
async def engine(workspace: Workspace) -> AsyncIterator[ProcessEngine]:
    engine = ProcessEngine()
    before = set(os.listdir("/proc/self/fd"))
    yield engine
    await engine.aclose()
    assert sampling.tree(os.getpid()) == [os.getpid()]
    assert set(os.listdir("/proc/self/fd")) <= before
    assert len(os.listdir(process_root())) <= 1  # the test's own workspace


@pytest.fixture
def run(engine: ProcessEngine, workspace: Workspace) -> Run:
    return Run(engine, workspace)


class Run:
    """`await run(argv)`; `await run.python(source)`."""

    def __init__(self, engine: ProcessEngine, workspace: Workspace) -> None:
        self.engine = engine
        self.workspace = workspace

    async def __call__(
        self,
        *argv: str,
        limits: Limits | None = None,
        stdin: bytes = b"",
        env: dict[str, str] | None = None,
        mounts: tuple[Mount, ...] = (),
    ) -> tuple[Exit, Output, Output]:
        limits = limits or Limits(wall_ms=20_000)
        job = Job(argv, self.workspace.path, ENV | (env or {}), mounts=mounts, limits=limits)
        process = await self.engine.start(job)
        try:
            return await communicate(process, stdin=stdin, limits=limits)
        finally:
            await process.close()

    async def python(self, source: str, **kwargs: object) -> tuple[Exit, Output, Output]:
        return await self(PYTHON, "-I", "-c", source, **kwargs)  # type: ignore[arg-type]

    async def shell(self, source: str, **kwargs: object) -> tuple[Exit, Output, Output]:
        return await self("/bin/sh", "-c", source, **kwargs)  # type: ignore[arg-type]


def is_alive(pid: int) -> bool:
    """A zombie that pid 1 has not got round to is dead enough."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


# Running.


async def test_streams_and_exit_code(run: Run) -> None:
    ended, out, err = await run.shell("cat; echo oops >&2; exit 3", stdin=b"hello\n")
    assert (ended.ended_by, ended.exit_code, ended.signal) == (EndedBy.EXIT, 3, None)
    assert (out.data, err.data) == (b"hello\n", b"oops\n")
    assert ended.usage.cpu_ms > 0
    assert 0 < ended.usage.wall_ms < 20_000
    assert ended.usage.memory_peak_kb > 0


async def test_a_program_that_crashes(run: Run) -> None:
    ended, _, _ = await run.shell("kill -SEGV $$")
    assert (ended.ended_by, ended.exit_code) == (EndedBy.SIGNAL, None)
    assert ended.signal == signal.SIGSEGV


async def test_a_program_that_kills_itself_was_not_killed_by_us(run: Run) -> None:
    ended, _, _ = await run.shell("kill -KILL $$")
    assert (ended.ended_by, ended.signal) == (EndedBy.SIGNAL, signal.SIGKILL)


async def test_150_kb_and_an_exit_right_after_arrive_whole(run: Run) -> None:
    for _ in range(5):
        _, out, _ = await run.python("import os; os.write(1, b'x' * 150_000); os._exit(0)")
        assert len(out.data) == 150_000


async def test_a_megabyte_goes_in_and_out(run: Run) -> None:
    data = os.urandom(1_000_000)
    _, out, _ = await run("/bin/cat", stdin=data)
    assert out.data == data


async def test_the_environment_is_exactly_the_jobs(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "token")
    _, out, _ = await run("/usr/bin/env", env={"É": "ü ö"})
    names = dict(line.split("=", 1) for line in out.text.splitlines())
    assert set(names) == {"PATH", "É", "HOME", "TMPDIR"}
    assert names["É"] == "ü ö"


async def test_home_and_tmp_can_be_written_and_the_workspace_is_a_copy(run: Run) -> None:
    run.workspace.add([File("data/in.txt", b"original")])
    ended, out, _ = await run.shell(
        "echo 1 > $HOME/h && echo 1 > $TMPDIR/t && cat data/in.txt && echo changed > data/in.txt"
    )
    assert (ended.exit_code, out.data) == (0, b"original")
    assert (run.workspace.path / "data/in.txt").read_bytes() == b"original"


async def test_the_workspace_can_be_collected(engine: ProcessEngine, workspace: Workspace) -> None:
    workspace.add([File("in.txt", b"in")])
    argv = ("/bin/sh", "-c", "echo made > made.txt; ln -s /etc/passwd link")
    process = await engine.start(Job(argv, workspace.path, ENV, collect=True))
    await communicate(process, stdin=None, limits=Limits())
    found = collect(process.workspace_fd(), ["**"])
    await process.close()
    assert {file.name: file.content for file in found.files} == {
        "in.txt": b"in",
        "made.txt": b"made\n",
    }
    assert [skipped.name for skipped in found.skipped] == ["link"]


async def test_no_fd_is_inherited(run: Run) -> None:
    leaky = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(leaky, True)
    _, out, _ = await run.python("import os; print(sorted(os.listdir('/proc/self/fd')))")
    os.close(leaky)
    assert out.text.strip() == "['0', '1', '2', '3']"  # 3 is the listing itself


async def test_signals_start_out_as_usual(run: Run) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        _, out, _ = await run("/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    assert {line.split()[1] for line in out.text.splitlines()} == {"0" * 16}


# Starts that fail.


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("no-such-program",), "no such file"),
        (("/no/such/program",), "no such file"),
        (("./data.txt",), "permission denied"),
        (("./bad-interpreter",), "no such file"),
        (("./not-a-program",), "exec format"),
        (("/bin/echo", "x" * 3_000_000), "too long"),
        (("/bin/echo", "\0"), "NUL"),
        (("/bin/echo", "\ud800"), "invalid"),
        (("/",), "permission denied"),
    ],
)
async def test_a_start_that_fails_says_why(run: Run, argv: tuple[str, ...], message: str) -> None:
    run.workspace.add([File("data.txt", b"")])
    run.workspace.add(
        [File("bad-interpreter", b"#!/no/such\n"), File("not-a-program", b"\1\2")], mode=0o755
    )
    with pytest.raises(StartFailed, match=message):
        await run(*argv)


async def test_exit_127_is_the_programs_own(run: Run) -> None:
    ended, _, _ = await run.shell("no-such-program")
    assert (ended.ended_by, ended.exit_code) == (EndedBy.EXIT, 127)


async def test_a_workspace_that_is_not_there_is_our_fault(engine: ProcessEngine) -> None:
    with pytest.raises(EngineUnavailable):
        await engine.start(Job(("/bin/true",), Path("/no/such/workspace")))


# Limits.


async def test_wall_time(run: Run) -> None:
    ended, out, _ = await run.shell("echo before; sleep 60", limits=Limits(wall_ms=300))
    assert (ended.ended_by, ended.exit_code) == (EndedBy.WALL_TIME, None)
    assert 300 <= ended.usage.wall_ms < 1500
    assert out.data == b"before\n"


async def test_wall_time_of_a_program_that_stops_itself(run: Run) -> None:
    ended, _, _ = await run.shell("kill -STOP $$", limits=Limits(wall_ms=300))
    assert ended.ended_by is EndedBy.WALL_TIME


async def test_cpu_time(run: Run) -> None:
    limits = Limits(wall_ms=20_000, cpu_ms=300)
    ended, _, _ = await run.python("while True: pass", limits=limits)
    assert ended.ended_by is EndedBy.CPU_TIME
    assert 300 <= ended.usage.cpu_ms < 1500


async def test_cpu_time_of_children_counts(run: Run) -> None:
    limits = Limits(wall_ms=20_000, cpu_ms=500)
    source = "import os, time\nif os.fork():\n  time.sleep(60)\nelse:\n  while True: pass"
    ended, _, _ = await run.python(source, limits=limits)
    assert ended.ended_by is EndedBy.CPU_TIME


async def test_cpu_time_of_many_short_children_counts(run: Run) -> None:
    limits = Limits(wall_ms=20_000, cpu_ms=300)
    loop = "while :; do (i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done); done"
    ended, _, _ = await run.shell(loop, limits=limits)
    assert ended.ended_by is EndedBy.CPU_TIME


async def test_sleeping_costs_no_cpu_time(run: Run) -> None:
    ended, _, _ = await run.shell("sleep 0.5", limits=Limits(cpu_ms=300))
    assert ended.ended_by is EndedBy.EXIT
    assert ended.usage.cpu_ms < 300


async def test_memory(run: Run) -> None:
    source = "x = []\nwhile True: x.append(bytearray(1_000_000))"
    ended, _, _ = await run.python(source, limits=Limits(memory_mb=64))
    assert ended.ended_by is EndedBy.MEMORY
    assert 64 * 1024 < ended.usage.memory_peak_kb < 512 * 1024


async def test_memory_of_the_whole_tree(run: Run) -> None:
    """None of the four is above the limit."""
    source = (
        "import os, time\nos.fork(); os.fork()\n"
        "x = bytearray(os.urandom(1_000_000) * 30)\ntime.sleep(30)"
    )
    ended, _, _ = await run.python(source, limits=Limits(memory_mb=80))
    assert ended.ended_by is EndedBy.MEMORY


async def test_memory_that_a_fork_shares_counts_once(run: Run) -> None:
    source = (
        "import os, time\nx = bytearray(os.urandom(1_000_000) * 50)\n"
        "pids = [os.fork() for _ in range(2)]\ntime.sleep(0.3)"
    )
    ended, _, _ = await run.python(source, limits=Limits(memory_mb=128))
    assert (ended.ended_by, ended.exit_code) == (EndedBy.EXIT, 0)


async def test_mapping_a_terabyte_untouched_is_harmless(run: Run) -> None:
    ended, _, _ = await run.python(
        "import mmap\n"
        "flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE\n"
        "m = mmap.mmap(-1, 1 << 40, flags=flags); m[0] = 1"
    )
    assert ended.exit_code == 0


async def test_address_space_only_when_asked_for(run: Run) -> None:
    source = "import resource; print(resource.getrlimit(resource.RLIMIT_AS)[0])"
    _, out, _ = await run.python(source, limits=Limits(address_space_mb=1000))
    assert int(out.text) == 1000 << 20
    _, out, _ = await run.python(source)
    assert int(out.text) == -1


async def test_processes(run: Run) -> None:
    limits = Limits(processes=10, wall_ms=20_000)
    ended, _, _ = await run.shell(
        "i=0; while [ $i -lt 30 ]; do sleep 60 & i=$((i+1)); done; wait", limits=limits
    )
    assert ended.ended_by is EndedBy.PROCESSES


async def test_threads_count_as_processes(run: Run) -> None:
    source = (
        "import threading, time\n"
        "for _ in range(30): threading.Thread(target=time.sleep, args=(60,)).start()"
    )
    ended, _, _ = await run.python(source, limits=Limits(processes=10, wall_ms=20_000))
    assert ended.ended_by is EndedBy.PROCESSES


@pytest.mark.parametrize("each", ["pass", "os.setsid()"])
async def test_a_fork_bomb(run: Run, each: str) -> None:
    """With 300 forks to spend, so that a broken engine does not take the machine along."""
    source = (
        "import os, time\n"
        "r, w = os.pipe(); os.write(w, bytes(300)); os.close(w)\n"
        "while os.read(r, 1):\n"
        "  if os.fork() == 0: " + each + "\n"
        "time.sleep(30)"
    )
    limits = Limits(processes=32, memory_mb=2048, wall_ms=10_000)
    ended, _, _ = await run.python(source, limits=limits)
    assert ended.ended_by is EndedBy.PROCESSES
    assert ended.usage.wall_ms < 5_000


async def test_rlimits(run: Run) -> None:
    limits = Limits(open_files=50, disk_mb=1, stack_mb=16, cpu_ms=2500)
    source = (
        "import resource as r\n"
        "for k in 'NOFILE', 'FSIZE', 'STACK', 'CORE', 'CPU':\n"
        "  print(k, *r.getrlimit(getattr(r, 'RLIMIT_' + k)))"
    )
    _, out, _ = await run.python(source, limits=limits)
    assert out.text.splitlines() == [
        "NOFILE 50 50",
        "FSIZE 1048576 1048576",
        "STACK 16777216 16777216",
        "CORE 0 0",
        "CPU 4 5",
    ]


async def test_a_file_that_grows_too_large(run: Run) -> None:
    ended, _, _ = await run("/bin/dd", "if=/dev/zero", "of=big", "bs=1M", "count=50", "status=none")
    assert ended.exit_code == 0
    ended, _, _ = await run(
        "/bin/dd", "if=/dev/zero", "of=big", "bs=1M", "count=5", limits=Limits(disk_mb=2)
    )
    assert (ended.ended_by, ended.signal) == (EndedBy.SIGNAL, signal.SIGXFSZ)


async def test_a_flood_of_output(run: Run) -> None:
    limits = Limits(flood_bytes=1_000_000, output_bytes=1000)
    ended, out, _ = await run("/usr/bin/yes", limits=limits)
    assert ended.ended_by is EndedBy.OUTPUT
    assert len(out.data) == 1000
    assert out.dropped > 900_000


# The whole tree dies.


async def test_a_background_child_does_not_hang_us_and_dies(run: Run) -> None:
    started = time.perf_counter()
    ended, out, _ = await run.shell("sleep 60 & echo $!")
    assert time.perf_counter() - started < 5
    assert ended.ended_by is EndedBy.EXIT
    assert not is_alive(int(out.text))


async def test_a_daemon_in_its_own_session_dies(run: Run) -> None:
    source = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "  os.setsid()\n"
        "  if os.fork() == 0:\n"
        "    print(os.getpid(), flush=True); time.sleep(60)\n"
        "  os._exit(0)\n"
        "os.wait(); time.sleep(0.1)"
    )
    ended, out, _ = await run.python(source)
    assert (ended.ended_by, ended.exit_code) == (EndedBy.EXIT, 0)
    assert not is_alive(int(out.text))


async def test_sigterm_is_not_asked_for(run: Run) -> None:
    ended, _, _ = await run.shell("trap '' TERM INT HUP; sleep 60", limits=Limits(wall_ms=300))
    assert ended.ended_by is EndedBy.WALL_TIME


async def test_cpu_time_of_what_was_left_running_is_counted(run: Run) -> None:
    """Also of children that nobody waited for."""
    ended, _, _ = await run.python(
        "import os, time\nif os.fork() == 0:\n  while True: pass\ntime.sleep(0.4)"
    )
    assert ended.usage.cpu_ms > 200


async def test_kill_gives_its_reason(engine: ProcessEngine, workspace: Workspace) -> None:
    process = await engine.start(Job(("/bin/sleep", "60"), workspace.path, ENV))
    process.kill(EndedBy.OUTPUT)
    process.kill(EndedBy.KILLED)
    ended = await process.wait()
    assert (ended.ended_by, ended.exit_code, ended.signal) == (EndedBy.OUTPUT, None, 9)
    assert await process.wait() == ended
    await process.close()
    await process.close()


async def test_kill_after_the_end_changes_nothing(
    engine: ProcessEngine, workspace: Workspace
) -> None:
    process = await engine.start(Job(("/bin/true",), workspace.path, ENV))
    ended = await process.wait()
    process.kill()
    assert ended.ended_by is EndedBy.EXIT
    assert await process.wait() == ended
    await process.close()


@pytest.mark.parametrize(
    ("why", "code", "cpu_ms", "expected"),
    [
        ("", 0, None, "exit"),
        ("", 3, None, "exit"),
        ("", -11, None, "signal"),
        ("", -9, None, "signal"),
        ("wall_time", -9, None, "wall_time"),
        ("wall_time", 0, None, "exit"),  # it was faster than the kill
        ("memory", -11, None, "signal"),
        ("", -signal.SIGXCPU, 100, "cpu_time"),
        ("", -signal.SIGXCPU, None, "signal"),
    ],
)
def test_what_ended_it(why: str, code: int, cpu_ms: int | None, expected: str) -> None:
    assert reason(why, code, {"cpu_ms": cpu_ms}) == expected


async def test_a_start_cancelled_while_files_are_copied(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill = Scratch.fill

    def slow_fill(scratch: Scratch, job: Job) -> None:
        time.sleep(0.1)
        fill(scratch, job)

    monkeypatch.setattr(Scratch, "fill", slow_fill)
    task = asyncio.create_task(run("/bin/sleep", "60"))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.2)
    assert os.listdir(process_root()) == [run.workspace.path.name]


async def test_a_cancelled_run_is_dead(run: Run) -> None:
    task = asyncio.create_task(run.shell("echo $$ > pid; sleep 60"))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task  # the fixture looks for what is left


async def test_a_start_can_be_cancelled_at_any_moment(run: Run) -> None:
    for delay in (0.0, 0.001, 0.003, 0.01, 0.02, 0.04):
        task = asyncio.create_task(run("/bin/sleep", "60"))
        await asyncio.sleep(delay)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_aclose_ends_what_runs(workspace: Workspace) -> None:
    engine = ProcessEngine()
    process = await engine.start(Job(("/bin/sleep", "60"), workspace.path, ENV))
    await engine.aclose()
    assert (await process.wait()).ended_by is EndedBy.KILLED
    assert sampling.tree(os.getpid()) == [os.getpid()]


async def test_a_supervisor_that_is_killed(engine: ProcessEngine, workspace: Workspace) -> None:
    argv = ("/bin/sh", "-c", "echo $$ $PPID; exec sleep 60")
    process = await engine.start(Job(argv, workspace.path, ENV))
    pid, supervisor = map(int, (await process.reader(Stream.STDOUT).read()).split())
    os.kill(supervisor, signal.SIGKILL)
    with pytest.raises(EngineUnavailable):
        await process.wait()
    await process.close()
    for _ in range(100):
        if not is_alive(pid):
            return
        await asyncio.sleep(0.01)
    pytest.fail("the program outlived its supervisor")


def test_a_caller_that_is_killed_takes_everything_along(tmp_path: Path) -> None:
    script = (
        "import asyncio\n"
        "from coderunner.engines.process import ProcessEngine\n"
        "from coderunner.model import Job\n"
        "from coderunner.workspace import Workspace\n"
        "async def main():\n"
        "    job = Job(('/bin/sh', '-c', 'setsid sleep 60 & echo $! $$; wait'), Workspace().path,\n"
        "              {'PATH': '/usr/bin:/bin'})\n"
        "    process = await ProcessEngine().start(job)\n"
        "    from coderunner.model import Stream\n"
        "    print((await process.reader(Stream.STDOUT).read()).decode(), flush=True)\n"
        "    await process.wait()\n"
        "asyncio.run(main())\n"
    )
    environ = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [PYTHON, "-c", script], stdout=subprocess.PIPE, text=True, env=environ
    ) as caller:
        assert caller.stdout is not None
        pids = list(map(int, caller.stdout.readline().split()))
        assert all(map(is_alive, pids))
        caller.kill()
    deadline = time.monotonic() + 5
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_alive, pids))


async def test_many_at_once(engine: ProcessEngine, workspace: Workspace) -> None:
    run = Run(engine, workspace)
    results = await asyncio.gather(*(run.shell(f"echo {n}") for n in range(20)))
    assert [out.text for _, out, _ in results] == [f"{n}\n" for n in range(20)]


async def test_a_hostile_tree_is_removed(run: Run) -> None:
    source = (
        "import os\n"
        "for _ in range(3000): os.mkdir('d'); os.chdir('d')\n"
        "os.mkdir('closed'); os.chmod('closed', 0)"
    )
    ended, _, err = await run.python(source)
    assert (ended.exit_code, err.data) == (0, b"")


# Mounts, and what it says of itself.


async def test_mounts_are_shown_at_their_source(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("content")
    mounts = (Mount(tmp_path, "/box/tools"),)
    ended, out, _ = await run.shell(
        "cat $TOOLS/tool; echo $MORE",
        mounts=mounts,
        env={"TOOLS": "/box/tools", "MORE": "/x:/box/tools/bin:/not/box/tools:/box/toolsmith"},
    )
    assert out.text == f"content/x:{tmp_path}/bin:/not/box/tools:/box/toolsmith\n", ended
    _, out, _ = await run("/bin/cat", "/box/tools/tool", mounts=mounts)
    assert out.text == "content"


async def test_what_is_written_to_a_scratch_mount_is_thrown_away(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "old").write_text("old")
    ended, out, _ = await run.shell(
        "cat $CACHE/old; echo new > $CACHE/new; echo changed > $CACHE/old",
        mounts=(Mount(tmp_path / "cache", "/cache", scratch=True),),
        env={"CACHE": "/cache"},
    )
    assert (ended.exit_code, out.data) == (0, b"old")
    assert os.listdir(tmp_path / "cache") == ["old"]
    assert (tmp_path / "cache" / "old").read_text() == "old"


def test_the_most_specific_mount_wins(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    mounts = (Mount(Path("/one"), "/a"), Mount(Path("/two"), "/a/b"))
    scratch = Scratch()
    try:
        job = Job(("/a/x", "/a/b/y", "--into=/a", "/ab"), tmp_path / "w", mounts=mounts)
        scratch.fill(job)
        assert scratch.argv(job) == ["/one/x", "/two/y", "--into=/one", "/ab"]
    finally:
        scratch.remove()


async def test_it_says_that_it_is_no_boundary(engine: ProcessEngine) -> None:
    capabilities = await engine.capabilities()
    assert capabilities.isolation is Isolation.NONE
    assert {"filesystem", "network", "seccomp"} <= {c.name for c in capabilities.missing()}
    for control in capabilities.controls:
        assert control.state is State.ENFORCED or (control.reason and control.fix)

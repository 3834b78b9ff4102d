"""What every engine promises, tried on every engine."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from coderunner.capture import communicate
from coderunner.engines.base import Engine, Process
from coderunner.engines.linux import LinuxEngine
from coderunner.errors import StartFailed
from coderunner.execution import execute_and
from coderunner.model import EndedBy, File, Isolation, Limits, Stream
from coderunner.workspace import Workspace, collect
from tests.engines.bench import Bench
from tests.engines.every import UsedBefore, engine_for_tests, engine_params, settings_for_tests
from tests.support import require_sandbox

pytestmark = [pytest.mark.engines, pytest.mark.asyncio(loop_scope="module")]


INTERPRETED = "linux, interpreted"  # as where there is no C compiler
WARM = "docker, warm"
PARAMS = [*engine_params(), INTERPRETED, pytest.param(WARM, marks=pytest.mark.as_root)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kept() -> AsyncIterator[list[Engine]]:
    """Engines that are worth keeping for all of these tests."""
    engines: list[Engine] = []
    yield engines
    for engine in engines:
        await engine.aclose()


@pytest_asyncio.fixture(params=PARAMS, loop_scope="module")
async def bench(
    request: pytest.FixtureRequest, workspace: Workspace, kept: list[Engine]
) -> AsyncIterator[Bench]:
    if request.param == WARM:
        if not kept:
            kept.append(UsedBefore(settings_for_tests(request, "docker", warm=True).docker))
        yield Bench(kept[0], workspace, image=True)
        return
    if request.param == INTERPRETED:
        require_sandbox()
        engine: Engine = LinuxEngine(compiled=False)
    else:
        engine = engine_for_tests(request, request.param)
    yield Bench(engine, workspace, image=engine.name == "docker")
    await engine.aclose()


@pytest.mark.telling
async def test_exit_code(bench: Bench) -> None:
    outcome = await bench.sh("exit 7")
    assert (outcome.ended_by, outcome.exit_code, outcome.signal) == (EndedBy.EXIT, 7, None)
    assert not outcome.ok


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM, signal.SIGKILL])
async def test_death_by_signal(bench: Bench, number: signal.Signals) -> None:
    outcome = await bench.sh(f"kill -{number.value} $$")
    assert (outcome.ended_by, outcome.exit_code) == (EndedBy.SIGNAL, None)
    assert outcome.signal == number


async def test_streams_are_kept_apart(bench: Bench) -> None:
    outcome = await bench.sh("echo out; echo err >&2")
    assert (outcome.stdout.data, outcome.stderr.data) == (b"out\n", b"err\n")


@pytest.mark.telling
async def test_stdin_arrives_whole_and_ends(bench: Bench) -> None:
    data = bytes(range(256)) * 20_000
    outcome = await bench.sh("cat", stdin=data, output_bytes=8 << 20)
    assert outcome.stdout.data == data


async def test_no_stdin_is_an_empty_one(bench: Bench) -> None:
    assert (await bench.sh("cat; echo end")).stdout.data == b"end\n"


async def test_a_program_need_not_read_its_stdin(bench: Bench) -> None:
    assert (await bench.sh("exit 3", stdin=b"x" * 1_000_000)).exit_code == 3


async def _write_for_ever(process: Process) -> None:
    while True:
        await process.write(b"x" * 1000)
        await asyncio.sleep(0)


async def test_who_writes_learns_that_nobody_reads(bench: Bench) -> None:
    process = await bench.engine.start(bench.job("/bin/sh", "-c", "exec 0<&-; sleep 60"))
    try:
        with pytest.raises(BrokenPipeError):
            await _write_for_ever(process)
        process.kill()
        assert (await process.wait()).ended_by is EndedBy.KILLED  # it was alive until now
    finally:
        await process.close()


async def test_output_just_before_the_exit_arrives_whole(bench: Bench) -> None:
    # In a loop: gVisor's kernel may take less of it than was offered.
    source = "import os\nx = bytes(150_000)\nwhile x: x = x[os.write(1, x):]\nos._exit(0)"
    for _ in range(5):
        outcome = await bench.python(source)
        assert len(outcome.stdout.data) == 150_000


async def test_head_and_tail_of_a_long_output(bench: Bench) -> None:
    outcome = await bench.python("print('a' * 5000 + 'b' * 5000, end='')", output_bytes=100)
    assert (outcome.stdout.head, outcome.stdout.tail) == (b"a" * 50, b"b" * 50)
    assert outcome.stdout.dropped == 9900
    assert outcome.ok


@pytest.mark.telling
async def test_a_flood_is_ended(bench: Bench) -> None:
    outcome = await bench.sh("yes", flood_bytes=1 << 20)
    assert outcome.ended_by is EndedBy.OUTPUT
    assert outcome.stdout.dropped > 0


async def test_a_flood_of_errors_is_ended(bench: Bench) -> None:
    outcome = await bench.sh("yes >&2", flood_bytes=1 << 20)
    assert outcome.ended_by is EndedBy.OUTPUT


@pytest.mark.telling
async def test_wall_time_keeps_what_was_printed(bench: Bench) -> None:
    outcome = await bench.sh("echo before; sleep 30; echo after", wall_ms=500)
    assert outcome.ended_by is EndedBy.WALL_TIME
    assert outcome.stdout.data == b"before\n"
    assert outcome.usage.wall_ms >= 450


@pytest.mark.telling
async def test_cpu_time(bench: Bench) -> None:
    outcome = await bench.sh("while :; do :; done", cpu_ms=300)
    assert outcome.ended_by is EndedBy.CPU_TIME
    assert outcome.usage.cpu_ms >= 250


async def test_cpu_time_of_children_counts(bench: Bench) -> None:
    outcome = await bench.sh("(while :; do :; done) & sleep 30", cpu_ms=300)
    assert outcome.ended_by is EndedBy.CPU_TIME


@pytest.mark.telling
async def test_memory(bench: Bench) -> None:
    source = "x = []\nwhile True: x.append(bytearray(1 << 20))"
    outcome = await bench.python(source, memory_mb=64)
    assert outcome.ended_by is EndedBy.MEMORY
    assert outcome.usage.memory_peak_kb >= 60 * 1024


async def test_memory_of_children_counts(bench: Bench) -> None:
    source = """
import os, time
for _ in range(8):
    if not os.fork():
        x = bytearray(20 << 20)
        time.sleep(30)
time.sleep(30)
"""
    outcome = await bench.python(source, memory_mb=100)
    assert outcome.ended_by is EndedBy.MEMORY


async def test_memory_that_is_only_reserved_is_free(bench: Bench) -> None:
    source = "import mmap; m = mmap.mmap(-1, 1 << 40, flags=0x4022); print('ok')"
    assert (await bench.python(source, memory_mb=64)).stdout.data == b"ok\n"


async def test_address_space_when_asked_for(bench: Bench) -> None:
    source = "bytearray(400 << 20)"
    outcome = await bench.python(source, address_space_mb=200)
    assert b"MemoryError" in outcome.stderr.data


@pytest.mark.telling
async def test_processes(bench: Bench) -> None:
    source = """
import os, time
for _ in range(100):
    try:
        if not os.fork():
            time.sleep(30)
    except OSError:
        pass
time.sleep(30)
"""
    # Where nobody knows what processes share, it counts for each of them: hence the memory.
    outcome = await bench.python(source, processes=20, memory_mb=2048)
    assert outcome.ended_by is EndedBy.PROCESSES


async def test_a_background_child_does_not_keep_us_waiting(bench: Bench) -> None:
    outcome = await bench.sh("sleep 30 & echo done")
    assert outcome.stdout.data == b"done\n"
    assert outcome.usage.wall_ms < 15_000


async def test_a_stopped_program_runs_out_of_time(bench: Bench) -> None:
    assert (await bench.sh("kill -STOP $$", wall_ms=500)).ended_by is EndedBy.WALL_TIME


async def test_sigterm_is_not_asked_for(bench: Bench) -> None:
    outcome = await bench.sh("trap '' TERM INT HUP; while :; do sleep 1; done", wall_ms=500)
    assert outcome.ended_by is EndedBy.WALL_TIME


@pytest.mark.telling
async def test_kill(bench: Bench) -> None:
    process = await bench.engine.start(bench.job("/bin/sleep", "30"))
    process.kill()
    assert (await process.wait()).ended_by is EndedBy.KILLED
    await process.close()


async def test_cancelling_a_run_ends_it(bench: Bench) -> None:
    run = asyncio.create_task(bench.sh("sleep 30"))
    await asyncio.sleep(0.3)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (await bench.sh("echo next")).stdout.data == b"next\n"


@pytest.mark.telling
async def test_a_command_that_is_not_there(bench: Bench) -> None:
    with pytest.raises(StartFailed, match=r"(?i)no such file"):
        await bench.run("/no/such/command")


async def test_a_command_that_is_no_program(bench: Bench) -> None:
    bench.workspace.add([File("text", b"hello")])
    with pytest.raises(StartFailed, match=r"(?i)permission denied"):
        await bench.run("./text")


async def test_the_environment_is_what_the_job_says(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    names = (await bench.sh("env | cut -d= -f1 | sort")).stdout.text.split()
    assert set(names) <= {"HOME", "LANG", "PATH", "PWD", "TMPDIR", "_", "OLDPWD", "SHLVL"}


async def test_files_are_there_and_writable(bench: Bench) -> None:
    bench.workspace.add([File("a.txt", b"one"), File("sub/b.txt", b"two")])
    outcome = await bench.sh("cat a.txt sub/b.txt; echo new > a.txt && cat a.txt; touch sub/c")
    assert outcome.stdout.data == b"onetwonew\n"
    assert outcome.ok


@pytest.mark.telling
async def test_each_run_has_a_fresh_copy(bench: Bench) -> None:
    bench.workspace.add([File("a.txt", b"one")])
    await bench.sh("echo changed > a.txt; touch left-behind; touch /tmp/left; touch $TMPDIR/left2")
    outcome = await bench.sh("cat a.txt; ls; ls $TMPDIR")
    assert outcome.stdout.data == b"onea.txt\n"


@pytest.mark.telling
async def test_collecting_what_a_job_left(bench: Bench) -> None:
    job = bench.job("/bin/sh", "-c", "mkdir d; echo hi > d/out.txt; ln -s /etc/passwd d/link.txt")
    job = type(job)(job.argv, job.workspace, job.env, job.mounts, job.limits, collect=True)
    outcome, found = await execute_and(bench.engine, job, lambda fd: collect(fd, ["**"]))
    assert outcome.ok
    assert found is not None
    assert {file.name: file.content for file in found.files} == {"d/out.txt": b"hi\n"}


async def test_a_sink_sees_output_while_the_program_runs(bench: Bench) -> None:
    seen: list[tuple[Stream, bytes]] = []

    async def sink(stream: Stream, data: bytes) -> None:
        seen.append((stream, data))
        process.close_stdin()  # the program goes on only once this was seen

    process = await bench.engine.start(bench.job("/bin/sh", "-c", "echo live; cat; echo end"))
    try:
        limits = Limits()
        never_ending: AsyncIterator[bytes] = _silence()
        _, stdout, _ = await communicate(process, stdin=never_ending, limits=limits, sink=sink)
    finally:
        await process.close()
    assert seen == [(Stream.STDOUT, b"live\n"), (Stream.STDOUT, b"end\n")]
    assert stdout.data == b"live\nend\n"


async def _silence() -> AsyncIterator[bytes]:
    await asyncio.sleep(3600)
    yield b""


async def test_bytes_that_are_not_text(bench: Bench) -> None:
    outcome = await bench.python("import os; os.write(1, bytes(range(256)))")
    assert outcome.stdout.data == bytes(range(256))


async def test_many_at_once(bench: Bench) -> None:
    outcomes = await asyncio.gather(*(bench.sh(f"echo {n}") for n in range(30)))
    assert [int(outcome.stdout.data) for outcome in outcomes] == list(range(30))


async def test_isolation_is_on_every_outcome(bench: Bench) -> None:
    offered = (await bench.engine.capabilities()).isolation
    outcome = await bench.sh("true")
    assert outcome.isolation is offered
    assert outcome.engine == bench.engine.name
    assert (offered is Isolation.NONE) == (bench.engine.name == "process")

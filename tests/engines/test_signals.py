"""Signals that the caller sends, and the program gets."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator

import pytest

from coderunner import File, Program, Runner, Settings
from coderunner.engines.base import SIGNALS, Engine, Process
from coderunner.engines.linux import LinuxEngine
from coderunner.engines.process import ProcessEngine
from coderunner.errors import InvalidInput
from coderunner.model import EndedBy, Stream
from coderunner.workspace import Workspace
from tests.engines.bench import Bench
from tests.support import require_sandbox

pytestmark = pytest.mark.engines

# Says which it got, until it gets SIGTERM, whose number it exits with. (It waits for them: one that
# comes between two calls of Python's is only noticed after the second.)
CATCHER = """
import os, signal
numbers = {1, 2, 3, 10, 12, 15, 28}
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
os.write(1, b"up\\n")
while True:
    number = signal.sigwait(numbers)
    os.write(1, b"%d\\n" % number)
    if number == signal.SIGTERM: os._exit(number)
"""


@pytest.fixture(params=["linux", "linux, interpreted", "process"])
async def bench(request: pytest.FixtureRequest, workspace: Workspace) -> AsyncIterator[Bench]:
    engine: Engine = ProcessEngine()
    if request.param != "process":
        require_sandbox()
        engine = LinuxEngine(compiled=request.param == "linux")
    yield Bench(engine, workspace)
    await engine.aclose()


async def lines_of(process: Process) -> AsyncIterator[bytes]:
    reader, unread = process.reader(Stream.STDOUT), b""
    while chunk := await reader.read():
        *lines, unread = (unread + chunk).split(b"\n")
        for line in lines:
            yield line


async def test_each_arrives_by_its_number(bench: Bench) -> None:
    process = await bench.engine.start(bench.job(bench._python, "-I", "-S", "-c", CATCHER))
    lines = lines_of(process)
    assert await anext(lines) == b"up"
    for number in sorted(SIGNALS - {signal.SIGTERM}):
        process.send_signal(number)
        assert await anext(lines) == b"%d" % number
    process.send_signal(signal.SIGTERM)
    ended = await process.wait()
    assert (ended.ended_by, ended.exit_code) == (EndedBy.EXIT, signal.SIGTERM)
    await process.close()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1])
async def test_who_dies_of_one_was_not_killed(bench: Bench, number: int) -> None:
    process = await bench.engine.start(bench.job("/bin/sleep", "60"))
    process.send_signal(number)  # at once: it may not even be there yet
    ended = await process.wait()
    assert (ended.ended_by, ended.exit_code, ended.signal) == (EndedBy.SIGNAL, None, number)
    assert ended.usage.wall_ms < 15_000
    await process.close()


async def test_what_its_caller_ignores_it_does_not(bench: Bench) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
    try:
        process = await bench.engine.start(bench.job("/bin/sleep", "60"))
    finally:
        signal.signal(signal.SIGHUP, before)
    process.send_signal(signal.SIGHUP)
    assert (await process.wait()).signal == signal.SIGHUP
    await process.close()


async def test_only_the_program_itself_gets_it(bench: Bench) -> None:
    script = "trap 'echo got it' USR1; sh -c 'echo up; sleep 1; echo child lives'; exit 5"
    process = await bench.engine.start(bench.job("/bin/sh", "-c", script))
    lines = lines_of(process)
    assert await anext(lines) == b"up"
    process.send_signal(signal.SIGUSR1)
    assert [await anext(lines), await anext(lines)] == [b"child lives", b"got it"]
    assert (await process.wait()).exit_code == 5
    await process.close()


@pytest.mark.parametrize("number", [0, -1, signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV, 64, 999])
async def test_others_cannot_be_sent(bench: Bench, number: int) -> None:
    process = await bench.engine.start(bench.job("/bin/true"))
    with pytest.raises(InvalidInput, match="cannot be sent"):
        process.send_signal(number)
    await process.close()


async def test_one_that_comes_too_late_is_lost(bench: Bench) -> None:
    process = await bench.engine.start(bench.job("/bin/true"))
    assert (await process.wait()).exit_code == 0
    process.send_signal(signal.SIGTERM)
    await process.close()
    process.send_signal(signal.SIGTERM)
    assert (await bench.sh("echo next")).stdout.data == b"next\n"


async def test_a_crowd_of_them_harms_nobody(bench: Bench) -> None:
    script = "trap : USR1 INT; i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done; exit 4"
    process = await bench.engine.start(bench.job("/bin/sh", "-c", f"trap : USR1 INT; {script}"))
    for _ in range(2000):
        process.send_signal(signal.SIGWINCH)
    assert (await process.wait()).exit_code == 4
    await process.close()


async def test_a_program_in_a_warm_interpreter() -> None:
    require_sandbox()
    catcher = Program("python", (File("main.py", CATCHER.encode()),))
    loop = Program("python", (File("main.py", b"while True: pass"),))
    running: list[Process] = []

    async def answer(stream: Stream, data: bytes) -> None:
        running[-1].send_signal(signal.SIGINT if data == b"up\n" else signal.SIGTERM)

    async with Runner.open(Settings(engine="linux")) as runner:
        assert await runner.warm_up("python")
        async with runner.build(catcher) as build:
            caught = await build.run(sink=answer, started=running.append)
        async with runner.build(loop) as build:
            dead = await build.run(started=lambda process: process.send_signal(signal.SIGTERM))
    assert (caught.stdout.split(), caught.outcome.exit_code) == (["up", "2", "15"], 15)
    assert caught.outcome.warm
    assert (dead.outcome.ended_by, dead.outcome.signal) == (EndedBy.SIGNAL, signal.SIGTERM)


async def test_a_program_that_ignores_it_can_be_killed(bench: Bench) -> None:
    job = bench.job("/bin/sh", "-c", "trap '' TERM; echo up; sleep 60")
    process = await bench.engine.start(job)
    lines = lines_of(process)
    assert await anext(lines) == b"up"
    process.send_signal(signal.SIGTERM)
    process.kill()
    assert (await process.wait()).ended_by is EndedBy.KILLED
    await process.close()

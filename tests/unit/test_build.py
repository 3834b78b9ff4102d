"""A run of a program that is ready: files and arguments of its own."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator

import pytest

from coderunner import Build, EndedBy, File, InvalidProgram, Program, Runner, Terminal
from coderunner.engines.base import Process
from coderunner.engines.fake import FakeEngine, Script

pytestmark = pytest.mark.unit

PROGRAM = Program("bash", (File("main.sh", b"code"),), ("usual",))


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(Script())


@pytest.fixture
async def build(engine: FakeEngine) -> AsyncIterator[Build]:
    async with Runner(engine) as runner, runner.build(PROGRAM) as build:
        yield build


async def test_files_of_one_run_are_not_there_in_the_next(build: Build, engine: FakeEngine) -> None:
    await build.run(files=[File("data/one.txt", b"1")])
    await build.run()
    first, second = engine.runs
    assert first.files == {"main.sh": b"code", "data/one.txt": b"1"}
    assert second.files == {"main.sh": b"code"}


async def test_arguments_of_one_run_take_the_place_of_the_programs(
    build: Build, engine: FakeEngine
) -> None:
    await build.run(args=["other", "words"])
    await build.run(args=[])
    await build.run()
    assert [job.argv[1:] for job in engine.jobs] == [
        ("./main.sh", "other", "words"),
        ("./main.sh",),
        ("./main.sh", "usual"),
    ]


@pytest.mark.parametrize("name", ["main.sh", "../up", "/etc/passwd", "main.sh/inner"])
async def test_a_file_that_cannot_lie_there(build: Build, engine: FakeEngine, name: str) -> None:
    with pytest.raises(InvalidProgram):
        await build.run(files=[File(name, b"")])
    assert engine.runs == []


@pytest.mark.parametrize("args", ["text", [1], ["nul\0"], ["x" * 200_000]])
async def test_arguments_that_cannot_be_passed(build: Build, args: list[str]) -> None:
    with pytest.raises(InvalidProgram, match=r"argument|args"):
        await build.run(args=args)


async def test_a_run_in_a_terminal(build: Build, engine: FakeEngine) -> None:
    """And no other: who started it gets hold of its process."""
    processes: list[Process] = []
    await build.run(terminal=Terminal(10, 20), started=processes.append)
    await build.run()
    assert [job.terminal for job in engine.jobs] == [Terminal(10, 20), None]
    processes[0].send_signal(signal.SIGTERM)
    assert [run.signals for run in engine.runs] == [[signal.SIGTERM], []]


async def test_who_cannot_take_hold_of_it_ends_it(build: Build, engine: FakeEngine) -> None:
    def refuse(process: Process) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await build.run(started=refuse)
    assert [run.closed for run in engine.runs] == [True]


async def test_out_of_memory_in_a_terminal() -> None:
    said = b'Traceback ...\r\n  File "main.py"\r\n    x\r\nMemoryError\r\n'
    engine = FakeEngine(Script(stdout=said, exit_code=1))
    program = Program("python", (File("main.py", b"x"),))
    async with Runner(engine) as runner, runner.build(program) as build:
        ends = [(await build.run(terminal=one)).outcome.ended_by for one in (Terminal(), None)]
    assert ends == [EndedBy.MEMORY, EndedBy.EXIT]

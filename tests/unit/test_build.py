"""A run of a program that is ready: files and arguments of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from coderunner import Build, File, InvalidProgram, Program, Runner
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

"""The fake engine behaves like a real one where its callers can tell."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator

import pytest

from coderunner.capture import communicate
from coderunner.engines.fake import Answer, CloseStdin, FakeEngine, Pause, Say, Script
from coderunner.errors import EngineUnavailable, InvalidInput, StartFailed
from coderunner.model import (
    EndedBy,
    Exit,
    File,
    Isolation,
    Job,
    Limits,
    Output,
    Stream,
    Terminal,
    Usage,
)
from coderunner.workspace import Workspace, collect
from coderunner.workspace.root import process_root

pytestmark = pytest.mark.unit


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace() as workspace:
        yield workspace


async def play(
    workspace: Workspace, script: Script, *, stdin: bytes = b"", limits: Limits | None = None
) -> tuple[Exit, Output, Output, FakeEngine]:
    limits = limits or Limits()
    engine = FakeEngine(script)
    process = await engine.start(Job(("x",), workspace.path, limits=limits))
    try:
        ended, out, err = await communicate(process, stdin=stdin, limits=limits)
    finally:
        await process.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}
    return ended, out, err, engine


async def test_it_prints_and_exits(workspace: Workspace) -> None:
    usage = Usage(5.0, 4.0, 3)
    script = Script(stdout=b"out", stderr=b"err", exit_code=3, usage=usage)
    ended, out, err, _ = await play(workspace, script)
    assert ended == Exit(EndedBy.EXIT, 3, None, usage)
    assert (out.data, err.data) == (b"out", b"err")


@pytest.mark.parametrize(
    ("script", "ended_by", "exit_code", "signal"),
    [
        (Script(), EndedBy.EXIT, 0, None),
        (Script(signal=11), EndedBy.SIGNAL, None, 11),
        (Script(ended_by=EndedBy.MEMORY), EndedBy.MEMORY, None, 9),
        (Script(ended_by=EndedBy.CPU_TIME, signal=24), EndedBy.CPU_TIME, None, 24),
        (Script(ended_by=EndedBy.EXIT, exit_code=2), EndedBy.EXIT, 2, None),
    ],
)
async def test_how_it_ends(
    workspace: Workspace,
    script: Script,
    ended_by: EndedBy,
    exit_code: int | None,
    signal: int | None,
) -> None:
    ended, _, _, _ = await play(workspace, script)
    assert (ended.ended_by, ended.exit_code, ended.signal) == (ended_by, exit_code, signal)


async def test_it_answers_stdin_in_steps(workspace: Workspace) -> None:
    script = Script(
        stdout=b"name? ", steps=(Answer(bytes.upper), Pause(1), Say(b"!", Stream.STDERR))
    )
    _, out, err, engine = await play(workspace, script, stdin=b"ada")
    assert (out.data, err.data) == (b"name? ADA", b"!")
    assert engine.runs[0].stdin == b"ada"


async def test_stdin_can_break(workspace: Workspace) -> None:
    engine = FakeEngine(Script(steps=(CloseStdin(), Pause())))
    process = await engine.start(Job(("x",), workspace.path))
    await asyncio.sleep(0.01)
    with pytest.raises(BrokenPipeError):
        await process.write(b"x")
    await process.close()


async def test_output_comes_while_it_plays(workspace: Workspace) -> None:
    engine = FakeEngine(Script(stdout=b"first", steps=(Pause(),)))
    process = await engine.start(Job(("x",), workspace.path))
    reader = process.reader(Stream.STDOUT)
    assert await reader.read() == b"first"
    process.kill(EndedBy.OUTPUT)
    assert await reader.read() == b""
    assert await reader.read() == b""
    assert (await process.wait()).ended_by is EndedBy.OUTPUT
    await process.close()


async def test_the_wall_time_holds(workspace: Workspace) -> None:
    started = time.perf_counter()
    script = Script(stdout=b"partial", steps=(Pause(),))
    ended, out, _, _ = await play(workspace, script, limits=Limits(wall_ms=30))
    assert (ended.ended_by, out.data) == (EndedBy.WALL_TIME, b"partial")
    assert time.perf_counter() - started < 2


async def test_kill_after_the_end_changes_nothing(workspace: Workspace) -> None:
    process = await FakeEngine().start(Job(("x",), workspace.path))
    ended = await process.wait()
    process.kill()
    assert await process.wait() == ended == Script().exit()
    await process.close()


async def test_it_can_fail_at_the_start_and_in_the_middle(workspace: Workspace) -> None:
    engine = FakeEngine([Script(start_error=StartFailed("no")), Script(start_error=None)])
    with pytest.raises(StartFailed, match="no"):
        await engine.start(Job(("x",), workspace.path))
    with pytest.raises(EngineUnavailable, match="gone"):
        await play(workspace, Script(stdout=b"x", wait_error=EngineUnavailable("gone")))


async def test_it_records_what_it_was_given(workspace: Workspace) -> None:
    workspace.add([File("src/main.c", b"int main;")])
    _, _, _, engine = await play(workspace, Script())
    assert engine.jobs == [Job(("x",), workspace.path)]
    assert engine.runs[0].files == {"src/main.c": b"int main;"}
    assert engine.runs[0].closed


async def test_a_script_per_job(workspace: Workspace) -> None:
    engine = FakeEngine(lambda job: Script(exit_code=len(job.argv)))
    process = await engine.start(Job(("a", "b"), workspace.path))
    assert (await process.wait()).exit_code == 2
    await engine.aclose()
    assert engine.closed


async def test_scripts_run_out(workspace: Workspace) -> None:
    engine = FakeEngine([Script()])
    await engine.start(Job(("x",), workspace.path))
    with pytest.raises(AssertionError, match="no script is left"):
        await engine.start(Job(("x",), workspace.path))
    await engine.aclose()


async def test_its_workspace_can_be_collected() -> None:
    with Workspace() as workspace:
        workspace.add([File("main.c", b"source")])
        engine = FakeEngine(Script(files=(File("program", b"binary"),)))
        process = await engine.start(Job(("cc",), workspace.path, collect=True))
    await process.wait()
    found = collect(process.workspace_fd(), ["**"])
    await process.close()
    assert {file.name: file.content for file in found.files} == {
        "main.c": b"source",
        "program": b"binary",
    }
    assert os.listdir(process_root()) == []


async def test_isolation_is_what_the_test_wants(workspace: Workspace) -> None:
    engine = FakeEngine(isolation=Isolation.SAMPLED)
    process = await engine.start(Job(("x",), workspace.path))
    assert process.isolation is Isolation.SAMPLED
    assert (await engine.capabilities()).isolation is Isolation.SAMPLED
    await engine.aclose()


async def test_signals_and_sizes_are_noted(workspace: Workspace) -> None:
    engine = FakeEngine()
    process = await engine.start(Job(("x",), workspace.path, terminal=Terminal()))
    process.send_signal(2)
    process.resize(10, 20)
    with pytest.raises(InvalidInput, match="cannot be sent"):
        process.send_signal(9)
    assert (engine.runs[0].signals, engine.runs[0].sizes) == ([2], [(10, 20)])
    without = await engine.start(Job(("x",), workspace.path))
    with pytest.raises(InvalidInput, match="no terminal"):
        without.resize(10, 20)
    await engine.aclose()

"""The process engine: starts that fail and starts that are cancelled."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from coderunner.engines.process import ProcessEngine
from coderunner.engines.process.scratch import Scratch
from coderunner.errors import EngineUnavailable, StartFailed
from coderunner.model import EndedBy, File, Job
from coderunner.workspace.root import process_root
from tests.engines.process_runs import Run

pytestmark = pytest.mark.engines


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


async def test_a_workspace_that_is_not_there_is_our_fault(process_engine: ProcessEngine) -> None:
    with pytest.raises(EngineUnavailable):
        await process_engine.start(Job(("/bin/true",), Path("/no/such/workspace")))


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


async def test_a_start_can_be_cancelled_at_any_moment(run: Run) -> None:
    for delay in (0.0, 0.001, 0.003, 0.01, 0.02, 0.04):
        task = asyncio.create_task(run("/bin/sleep", "60"))
        await asyncio.sleep(delay)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

"""The process engine: however a run ends, all of it ends and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coderunner.engines.linux.boxes import sampling
from coderunner.engines.process import ProcessEngine
from coderunner.engines.process.supervisor import reason
from coderunner.errors import EngineUnavailable
from coderunner.model import EndedBy, Job, Stream
from coderunner.workspace import Workspace
from tests.engines.process_runs import ENV, PYTHON, Run, is_alive

pytestmark = pytest.mark.engines


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


async def test_kill_gives_its_reason(process_engine: ProcessEngine, workspace: Workspace) -> None:
    process = await process_engine.start(Job(("/bin/sleep", "60"), workspace.path, ENV))
    process.kill(EndedBy.OUTPUT)
    process.kill(EndedBy.KILLED)
    ended = await process.wait()
    assert (ended.ended_by, ended.exit_code, ended.signal) == (EndedBy.OUTPUT, None, 9)
    assert await process.wait() == ended
    await process.close()
    await process.close()


async def test_kill_after_the_end_changes_nothing(
    process_engine: ProcessEngine, workspace: Workspace
) -> None:
    process = await process_engine.start(Job(("/bin/true",), workspace.path, ENV))
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
    order = {"cpu_ms": cpu_ms, "memory_kb": 1000}
    assert reason(why, code, order, largest_kb=1000) == expected


@pytest.mark.parametrize("code", [0, 1, -signal.SIGSEGV])
def test_who_was_too_large_for_a_moment_too_short_to_be_seen(code: int) -> None:
    order = {"cpu_ms": None, "memory_kb": 1000}
    assert reason("", code, order, largest_kb=1001) == "memory"
    assert reason("wall_time", -signal.SIGKILL, order, largest_kb=1001) == "wall_time"


async def test_a_cancelled_run_is_dead(run: Run) -> None:
    task = asyncio.create_task(run.shell("echo $$ > pid; sleep 60"))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task  # the fixture looks for what is left


async def test_aclose_ends_what_runs(workspace: Workspace) -> None:
    before = sampling.tree(os.getpid())
    engine = ProcessEngine()
    process = await engine.start(Job(("/bin/sleep", "60"), workspace.path, ENV))
    await engine.aclose()
    assert (await process.wait()).ended_by is EndedBy.KILLED
    assert sampling.tree(os.getpid()) == before


async def test_a_supervisor_that_is_killed(
    process_engine: ProcessEngine, workspace: Workspace
) -> None:
    argv = ("/bin/sh", "-c", "echo $$ $PPID; exec sleep 60")
    process = await process_engine.start(Job(argv, workspace.path, ENV))
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


async def test_a_hostile_tree_is_removed(run: Run) -> None:
    source = (
        "import os\n"
        "for _ in range(3000): os.mkdir('d'); os.chdir('d')\n"
        "os.mkdir('closed'); os.chmod('closed', 0)"
    )
    ended, _, err = await run.python(source)
    assert (ended.exit_code, err.data) == (0, b"")

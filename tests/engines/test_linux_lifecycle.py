"""What is left of boxes, spawners and callers: nothing, however they end."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from coderunner.engines.linux import LinuxEngine
from coderunner.engines.linux.boxes import sampling
from coderunner.errors import EngineUnavailable
from coderunner.workspace import Workspace
from tests.engines.bench import Bench
from tests.support import mounts, require_sandbox

pytestmark = pytest.mark.engines

T = TypeVar("T")
CGROUPS = Path("/sys/fs/cgroup")


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    require_sandbox()


def cgroups(spawner: int) -> list[str]:
    """The cgroup directories of a spawner and of its boxes."""
    return sorted(
        path
        for path, _, _ in os.walk(CGROUPS)  # which does not mind what vanishes meanwhile
        if f"/coderunner-{spawner}-" in path
    )


def descendants() -> list[int]:
    return sampling.tree(os.getpid())[1:]


def resident_kb(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4


def open_fds(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


@pytest.fixture
async def spawner(linux: Bench) -> int:
    """The pid of the spawner of the `linux` bench, started."""
    before = set(descendants())
    await linux.sh("true")
    return new_child(before)


def new_child(before: set[int]) -> int:
    """The spawner, once the box that has just been used is gone."""
    wait_for(lambda: len(set(descendants()) - before) == 1)
    [pid] = set(descendants()) - before
    return pid


def settled(spawner: int, *, spares: int = 2) -> tuple[int, ...]:
    """How much there is of everything, once the spawner has its spare boxes again."""
    wait_for(lambda: len(sampling.tree(spawner)) == 1 + spares)
    gc.collect()
    counts = (open_fds(spawner), open_fds(os.getpid()), len(mounts()), len(cgroups(spawner)))
    return (len(descendants()), *counts)


@pytest.mark.slow
async def test_spares_that_nobody_wants_are_ended(linux: Bench, spawner: int) -> None:
    await linux.sh("true")
    settled(spawner)
    wait_for(lambda: sampling.tree(spawner) == [spawner])
    assert (await linux.sh("echo again")).stdout.data == b"again\n"


async def test_the_spawner_starts_with_the_first_job_and_goes_with_the_engine(
    workspace: Workspace,
) -> None:
    before = descendants()
    engine = LinuxEngine()
    assert descendants() == before
    await Bench(engine, workspace).sh("true")
    spawner = new_child(set(before))
    await engine.aclose()
    assert descendants() == before
    assert cgroups(spawner) == []


@pytest.mark.slow
async def test_500_runs_in_a_row_leave_nothing(linux: Bench, spawner: int) -> None:
    for _ in range(20):
        await linux.sh("true")
    before = settled(spawner)
    memory = resident_kb(spawner), resident_kb(os.getpid())
    for _ in range(500):
        assert (await linux.sh("echo hi")).stdout.data == b"hi\n"
    assert settled(spawner) == before
    assert resident_kb(spawner) - memory[0] < 1024
    assert resident_kb(os.getpid()) - memory[1] < 4096


async def test_50_at_once_leave_nothing(linux: Bench, spawner: int) -> None:
    async def fifty() -> None:
        outcomes = await asyncio.gather(*(linux.sh("sleep 0.2; echo $$") for _ in range(50)))
        assert {outcome.stdout.data for outcome in outcomes} == {b"2\n"}

    await fifty()
    before = settled(spawner, spares=4)  # so many at once, so many more are kept ready
    await fifty()
    assert settled(spawner, spares=4) == before


async def test_a_dead_spawner_fails_its_runs_and_is_replaced(linux: Bench, spawner: int) -> None:
    runs = [asyncio.create_task(linux.sh("sleep 30")) for _ in range(3)]
    # The spawner, and for each run process 1 and its program.
    boxes = await asyncio.to_thread(wait_for, lambda: family_of(spawner, 1 + 2 * len(runs)))
    os.kill(boxes[0], signal.SIGKILL)
    for run in runs:
        with pytest.raises(EngineUnavailable, match="spawner died"):
            await run
    assert (await linux.sh("echo again")).stdout.data == b"again\n"
    assert not any(alive(pid) for pid in boxes)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


CALLER = """
import asyncio, sys
from coderunner import File, Program, Runner

async def main():
    runner = Runner.open()
    await runner.run(Program("bash", (File("main.sh", b"true"),)))
    print("ready", flush=True)
    await runner.run(Program("bash", (File("main.sh", b"sleep {marker}"),)))

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_caller_takes_everything_with_it(tmp_path: Path, number: signal.Signals) -> None:
    marker = f"32{os.getpid()}"
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    source = CALLER.replace("{marker}", marker)
    with subprocess.Popen(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, env=env
    ) as caller:
        assert caller.stdout is not None
        caller.stdout.readline()
        family = wait_for(lambda: family_of(caller.pid, 5))
        caller.send_signal(number)
        caller.wait(30)
    wait_for(lambda: not any(map(alive, family)))
    wait_for(lambda: not any(map(cgroups, family)))
    assert not list(tmp_path.glob("coderunner-*"))


def family_of(pid: int, size: int) -> list[int]:
    """A process and its descendants, once there are as many as that."""
    found = sampling.tree(pid)
    return found if len(found) >= size else []


def wait_for(look: Callable[[], T]) -> T:
    """The first true answer; the limit is only there to end a test that has failed."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if answer := look():
            return answer
        time.sleep(0.01)
    raise AssertionError("it did not happen within 30 seconds")

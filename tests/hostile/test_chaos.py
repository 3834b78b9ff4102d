"""kill -9 at random moments: of the caller, of the spawner, of a box. 200 times in all.

Whatever is killed, a run gives the right result or says that the engine failed; nothing hangs,
and nothing is left.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from coderunner.engines.linux import LinuxEngine
from coderunner.engines.linux.boxes import sampling
from coderunner.errors import EngineUnavailable
from coderunner.workspace import Workspace
from tests.engines.bench import Bench
from tests.hostile.surroundings import children, wait_for
from tests.support import require_sandbox

pytestmark = [pytest.mark.hostile, pytest.mark.slow]

CALLERS, SPAWNERS, BOXES = 60, 70, 70
AT_ONCE = 3
CGROUPS = Path("/sys/fs/cgroup")


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    require_sandbox()


def alive(pids: set[int]) -> set[int]:
    """Those that still run. (One that was not our child may wait for somebody to reap it.)"""
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z":
                found.add(pid)
    return found


def cgroups_named_after(pids: set[int]) -> list[str]:
    """(`os.walk` does not mind what vanishes meanwhile.)"""
    starts = tuple(f"coderunner-{pid}-" for pid in pids)
    return [name for _, names, _ in os.walk(CGROUPS) for name in names if name.startswith(starts)]


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def a_spawner() -> list[int]:
    return children(os.getpid())


def a_box() -> list[int]:
    return [box for spawner in a_spawner() for box in children(spawner)]


class Chaos:
    """Runs programs, several at once, while something is killed again and again."""

    def __init__(self, bench: Bench) -> None:
        self.results: Counter[str] = Counter()
        self.seen: set[int] = set()  # every process that was ever ours
        self._bench = bench
        self._moments = random.Random(7)
        self._over = False

    async def kill(self, victims: Callable[[], list[int]], times: int) -> None:
        workers = [asyncio.create_task(self._work()) for _ in range(AT_ONCE)]
        while times:
            await asyncio.sleep(self._moments.uniform(0.0, 0.25))
            self.seen.update(sampling.tree(os.getpid())[1:])
            found = victims()
            with contextlib.suppress(IndexError, ProcessLookupError):
                os.kill(self._moments.choice(found), signal.SIGKILL)
                times -= 1
        self._over = True
        await asyncio.wait_for(asyncio.gather(*workers), 60)

    async def _work(self) -> None:
        while not self._over:
            pause = self._moments.choice([":", "sleep 0.02", "sleep 0.1", "(sleep 9 &)"])
            script = f"cat; {pause}; echo $$; exit 3"
            try:
                outcome = await asyncio.wait_for(self._bench.sh(script, stdin=b"in"), 60)
            except EngineUnavailable:
                self.results["engine failed"] += 1
            else:
                right = (outcome.exit_code, outcome.stdout.data) == (3, b"in2\n")
                self.results["right" if right else f"false: {outcome}"] += 1


@pytest.mark.parametrize(("victims", "times"), [(a_spawner, SPAWNERS), (a_box, BOXES)])
async def test_spawners_and_boxes(victims: Callable[[], list[int]], times: int) -> None:
    with Workspace() as workspace:
        before = descriptors()
        bench = Bench(LinuxEngine(), workspace)
        await bench.sh("true")
        chaos = Chaos(bench)
        await chaos.kill(victims, times)
        assert set(chaos.results) == {"right", "engine failed"}
        assert (await bench.sh("echo next")).stdout.data == b"next\n"
        await bench.engine.aclose()
        assert alive(chaos.seen) == set()
        assert cgroups_named_after(chaos.seen) == []
        assert descriptors() <= before


CALLER = """
import asyncio
from coderunner.engines.linux import LinuxEngine
from coderunner.workspace import Workspace
from tests.engines.bench import Bench

async def main():
    with Workspace() as workspace:
        bench = Bench(LinuxEngine(), workspace)
        while True:
            print(flush=True)
            await asyncio.gather(*(bench.sh("(sleep 60 &) ; sleep 0.03") for _ in range(2)))

asyncio.run(main())
"""


def test_callers(tmp_path: Path) -> None:
    moments = random.Random(7)
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    seen: set[int] = set()
    for _ in range(CALLERS):
        command = [sys.executable, "-c", CALLER]
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as caller:
            assert caller.stdout is not None
            for _ in range(moments.choice([0, 1, 2, 4])):  # how far it may come
                caller.stdout.readline()
            with contextlib.suppress(subprocess.TimeoutExpired):
                caller.wait(moments.uniform(0.0, 0.1))
            family = set(sampling.tree(caller.pid))
            caller.kill()
        seen |= family
        wait_for(lambda family=family: not alive(family))  # type: ignore[misc]
    wait_for(lambda: cgroups_named_after(seen) == [])
    assert len(seen) > 2 * CALLERS, "they were all killed before they had begun"
    # What a killed caller leaves in the file system goes when the next one starts.
    subprocess.run([sys.executable, "-c", SWEEP], env=env, check=True, timeout=60)
    assert list(tmp_path.glob("coderunner-*")) == []


SWEEP = "from coderunner.workspace import Workspace\nwith Workspace(): pass"

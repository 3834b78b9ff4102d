"""Memory that a program leaves in the kernel goes with its box."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.arena import Arena
from tests.hostile.attack import PROGRAMS, Attack
from tests.support import require_toolchain

pytestmark = pytest.mark.hostile

RUNS = 50
LEFT_KB = 16 * 1024  # by each run


async def test_shared_memory_of_fifty_runs(arena: Arena) -> None:
    attack = Attack.read(PROGRAMS / "resources/08_leave_shared_memory.c")
    require_toolchain("c")
    async with arena.runner.build(attack.program) as build:
        before = shared_memory_kb()
        runs = arena.some(range(RUNS))
        for _ in runs:
            result = await build.run()
            assert result.stdout.strip() == attack.says(arena.where)
        after = shared_memory_kb()
    assert after - before < len(runs) * LEFT_KB / 2  # others on this machine use some, too
    await arena.check_alive()


def shared_memory_kb() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    [shmem] = [line for line in lines if line.startswith("Shmem:")]
    return int(shmem.split()[1])

"""What the processes of a run have used is counted, whoever they are and however they end."""

from __future__ import annotations

import pytest

from coderunner.model import EndedBy, Limits, Outcome
from tests.hostile.arena import Arena
from tests.hostile.attack import PROGRAMS, Attack

pytestmark = pytest.mark.hostile

TICK_MS = 10  # without a cgroup, cpu time is counted in these


async def outcome_of(arena: Arena, name: str, limits: Limits | None = None) -> Outcome:
    attack = Attack.read(PROGRAMS / name)
    result = await arena.run(attack.program, limits=limits or attack.limits)
    assert result.execution is not None, result.stderr
    return result.execution


async def test_children_that_are_left_behind(arena: Arena) -> None:
    outcome = await outcome_of(arena, "processes/26_leave_children.py")
    assert outcome.ok
    assert outcome.usage.cpu_ms >= 4 * (100 - TICK_MS)


@pytest.mark.parametrize("name", ["20_child_burns.py", "20_orphan_burns.py"])
async def test_a_child_that_burns(arena: Arena, name: str) -> None:
    outcome = await outcome_of(arena, f"resources/{name}")
    assert outcome.ended_by is EndedBy.CPU_TIME
    assert outcome.usage.cpu_ms >= 300


async def test_memory_of_many_small_processes(arena: Arena) -> None:
    outcome = await outcome_of(
        arena, "resources/01_many_small_processes.c", Limits(memory_mb=256, wall_ms=1500)
    )
    assert outcome.ended_by is EndedBy.WALL_TIME
    assert 80 * 1024 <= outcome.usage.memory_peak_kb <= 120 * 1024

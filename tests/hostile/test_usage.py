"""What the processes of a run use is counted, whoever they are, and kept to what is allowed."""

from __future__ import annotations

import pytest

from coderunner.model import EndedBy, Isolation, Limits, Outcome
from tests.hostile.arena import Arena
from tests.hostile.attack import PROGRAMS, Attack
from tests.hostile.conftest import ON_THE_HOSTS_KERNEL
from tests.support import require_toolchain

pytestmark = pytest.mark.hostile

TICK_MS = 10  # without a cgroup, cpu time is counted in these
LATE_MS = 5000  # how far behind a busy machine may be
# Without a cgroup, memory is looked at every 10 ms, and what was passed is reported.
SPARE_KB = {Isolation.FULL: 0, Isolation.SAMPLED: 100 * 1024, Isolation.VM: 100 * 1024}


async def outcome_of(arena: Arena, name: str, limits: Limits | None = None) -> Outcome:
    attack = Attack.read(PROGRAMS / name)
    require_toolchain(attack.program.language)
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
    assert 300 <= outcome.usage.cpu_ms < 300 + LATE_MS


async def test_memory_of_many_small_processes(arena: Arena) -> None:
    outcome = await outcome_of(
        arena, "resources/01_many_small_processes.c", Limits(memory_mb=256, wall_ms=1500)
    )
    assert outcome.ended_by is EndedBy.WALL_TIME
    # gVisor does not tell what processes share, so it counts for each of them.
    assert 80 * 1024 <= outcome.usage.memory_peak_kb <= (250 if arena.on_gvisor else 120) * 1024


@pytest.mark.parametrize("name", ["01_malloc.c", "01_many_small_processes.c"])
async def test_memory_stays_within_its_limit(arena: Arena, name: str) -> None:
    """An endless program is ended for its memory at any limit: it has to be at this one."""
    await stays_within(arena, name)


@ON_THE_HOSTS_KERNEL
async def test_files_in_memory_stay_within_its_limit(arena: Arena) -> None:
    await stays_within(arena, "06_fill_shm.py")


async def stays_within(arena: Arena, name: str) -> None:
    limits = Limits(memory_mb=40, disk_mb=1024)
    outcome = await outcome_of(arena, f"resources/{name}", limits)
    assert outcome.ended_by is EndedBy.MEMORY
    # Containers of one kind have room for files of up to so many MB more than there are.
    rounded = 1024 if arena.in_containers else 0
    most = limits.memory_mb * 1024 + SPARE_KB[arena.level] + rounded
    assert 30 * 1024 <= outcome.usage.memory_peak_kb <= most


@pytest.mark.parametrize("name", ["resources/12_sleep.sh", "processes/23_ignore_every_signal.c"])
async def test_time_ends_at_its_limit(arena: Arena, name: str) -> None:
    outcome = await outcome_of(arena, name, Limits(wall_ms=300))
    assert outcome.ended_by is EndedBy.WALL_TIME
    assert 300 <= outcome.usage.wall_ms < 300 + LATE_MS


@pytest.mark.parametrize("allowed", [20, 40])
async def test_processes_up_to_the_limit(arena: Arena, allowed: int) -> None:
    """Just as many as are allowed, and one more: what counts is everything but process 1."""
    source = "for i in $(seq {count}); do sleep 30 & done; exec sleep 1"
    within = await arena.text(source.format(count=allowed - 5), "bash", processes=allowed)
    beyond = await arena.text(source.format(count=allowed + 1), "bash", processes=allowed)
    assert within.ok, within.outcome
    assert beyond.outcome.ended_by is EndedBy.PROCESSES

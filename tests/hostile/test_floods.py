"""A flood on one stream takes nothing from the other, and costs the caller next to nothing."""

from __future__ import annotations

import pytest

from coderunner.model import EndedBy, File, Limits, Program
from tests.hostile.arena import Arena

pytestmark = pytest.mark.hostile

LIMITS = Limits(flood_bytes=4_000_000, output_bytes=10_000, wall_ms=30_000)


async def test_each_stream_has_its_own_cap(arena: Arena) -> None:
    source = b"echo calm; sleep 0.2; yes >&2"
    result = await arena.run(Program("bash", (File("main.sh", source),)), limits=LIMITS)
    assert result.execution is not None
    outcome = result.execution
    assert outcome.ended_by is EndedBy.OUTPUT
    assert (outcome.stdout.data, outcome.stdout.dropped) == (b"calm\n", 0)
    assert len(outcome.stderr.data) == LIMITS.output_bytes
    assert outcome.stderr.dropped >= LIMITS.flood_bytes - LIMITS.output_bytes


async def test_below_the_flood_is_no_breach(arena: Arena) -> None:
    """Much on both streams, at the same time, and all of it counted."""
    source = b"yes | head -c 3000000 & yes | head -c 3000000 >&2; wait"
    result = await arena.run(Program("bash", (File("main.sh", source),)), limits=LIMITS)
    assert result.ok, result.outcome
    assert result.execution is not None
    for output in (result.execution.stdout, result.execution.stderr):
        assert len(output.data) + output.dropped == 3_000_000


async def test_one_line_without_end(arena: Arena) -> None:
    """A gigabyte in one line. That the caller's memory stays flat is seen to by the arena."""
    source = b"print('x' * (1 << 20), end='')\n" * 1024
    limits = LIMITS.but({"flood_bytes": 2 << 30})
    result = await arena.run(Program("python", (File("main.py", source),)), limits=limits)
    assert result.ok, result.stderr
    assert result.execution is not None
    assert result.execution.stdout.dropped == (1 << 30) - LIMITS.output_bytes

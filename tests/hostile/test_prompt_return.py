"""A run is over when its program is, whatever it has left behind."""

from __future__ import annotations

import time

import pytest

from coderunner.model import EndedBy, Limits
from tests.hostile.arena import Arena
from tests.hostile.attack import PROGRAMS, Attack
from tests.support import require_toolchain

pytestmark = pytest.mark.hostile


async def test_a_child_that_keeps_stdout_open(arena: Arena) -> None:
    attack = Attack.read(PROGRAMS / "processes/22_background_child.sh")
    began = time.monotonic()
    result = await arena.run(attack.program, limits=attack.limits)
    assert result.ok
    assert time.monotonic() - began < 25  # the child would sleep for 50


@pytest.mark.parametrize("wall_ms", [50, 75, 100, 125, 150, 175, 200])
async def test_nothing_escapes_at_the_deadline(arena: Arena, wall_ms: int) -> None:
    require_toolchain("c")
    attack = Attack.read(PROGRAMS / "processes/27_vfork_loop.c")
    result = await arena.run(attack.program, limits=Limits(wall_ms=wall_ms))
    assert result.outcome.ended_by is EndedBy.WALL_TIME

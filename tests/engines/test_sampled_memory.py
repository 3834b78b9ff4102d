"""Where nobody but a watcher holds memory: what is over before a look is known all the same."""

from __future__ import annotations

import asyncio

import pytest

from coderunner import EndedBy, File, Limits, Program, Runner, Settings
from tests.support import require_sandbox

pytestmark = [pytest.mark.engines, pytest.mark.as_user]

BRIEF = b"x = 'a' * (100 << 20)"
LIMITS = Limits(memory_mb=50)


async def test_a_brief_program_that_was_too_large() -> None:
    """Many at once, so that the watcher comes late."""
    require_sandbox()
    program = Program("python", (File("main.py", BRIEF),))
    async with Runner.open(Settings(engine="linux")) as runner:
        for _ in range(8):
            results = await asyncio.gather(*(runner.run(program, limits=LIMITS) for _ in range(6)))
            assert {result.outcome.ended_by for result in results} == {EndedBy.MEMORY}

"""Engines that claim to hold hostile programs, one after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from coderunner import Runner, Settings
from coderunner.model import Isolation
from tests.support import require_sandbox

pytest.register_assert_rewrite("tests.hostile.arena", "tests.hostile.surroundings")

from tests.hostile.arena import Arena  # noqa: E402 - its asserts are to explain themselves

# Every engine that claims `sampled` or better, cold. `make test` runs them as root and as a user.
ENGINES = ["linux"]


@pytest.fixture(params=ENGINES)
async def arena(request: pytest.FixtureRequest) -> AsyncIterator[Arena]:
    """A fresh engine. The parameter `linux warm` stands for one with a warm interpreter."""
    require_sandbox()
    engine, _, warm = request.param.partition(" ")
    # Nothing in the background: what is looked at afterwards is one run's doing alone.
    settings = Settings(
        engine=engine, min_isolation=Isolation.SAMPLED, warm=bool(warm), prepare=False
    )
    async with Runner.open(settings) as runner:
        if warm:
            assert await runner.warm_up("python")
        yield Arena(runner, (await runner.engine.capabilities()).isolation)

"""Engines that claim to hold hostile programs, one after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from coderunner import Runner, Settings
from coderunner.model import Isolation
from tests.hostile.arena import Arena
from tests.support import require_sandbox

# Every engine that claims `sampled` or better. `make test` runs them as root and as a user.
ENGINES = ["linux"]


@pytest.fixture(params=ENGINES)
async def arena(request: pytest.FixtureRequest) -> AsyncIterator[Arena]:
    """A fresh engine, and a check that nothing of it is left when it is closed."""
    require_sandbox()
    settings = Settings(engine=request.param, min_isolation=Isolation.SAMPLED)
    async with Runner.open(settings) as runner:
        yield Arena(runner, (await runner.engine.capabilities()).isolation)

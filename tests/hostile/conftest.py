"""Engines that claim to hold hostile programs, one after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from coderunner import Runner
from coderunner.model import Isolation
from tests.engines.every import settings_for_tests
from tests.support import require_sandbox

pytest.register_assert_rewrite("tests.hostile.arena", "tests.hostile.surroundings")

from tests.hostile.arena import Arena  # noqa: E402 - its asserts are to explain themselves

# Every engine that claims `sampled` or better, cold. `make test` runs them as root and as a user.
ENGINES = ["linux", pytest.param("docker", marks=pytest.mark.as_root)]


# For what is about the embedded boxes, needs languages that the tests' image lacks, or looks for
# traces that an image's own files would hide.
ON_LINUX = pytest.mark.parametrize("arena", ["linux"], indirect=True)
WARM_CONTAINERS = pytest.param("docker warm", marks=pytest.mark.as_root)


@pytest.fixture(params=ENGINES)
async def arena(request: pytest.FixtureRequest) -> AsyncIterator[Arena]:
    """A fresh engine. The parameter `linux warm` stands for one with a warm interpreter, `docker
    warm` for one that uses its containers again."""
    engine, _, warm = request.param.partition(" ")
    if engine == "linux":
        require_sandbox()
    # Nothing in the background: what is looked at afterwards is one run's doing alone.
    settings = settings_for_tests(
        request, engine, min_isolation=Isolation.SAMPLED, warm=bool(warm), prepare=False
    )
    async with Runner.open(settings) as runner:
        if warm:
            assert await runner.warm_up("python")
        yield Arena(runner, (await runner.engine.capabilities()).isolation)

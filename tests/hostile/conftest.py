"""Engines that claim to hold hostile programs, one after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping

import pytest

from coderunner import Runner
from coderunner.model import Isolation
from tests.docker.daemon import LANGUAGES
from tests.engines.every import CONTAINERS, engine_params, settings_for_tests
from tests.support import require_sandbox

pytest.register_assert_rewrite("tests.hostile.arena", "tests.hostile.surroundings")

from tests.hostile.arena import Arena  # noqa: E402 - its asserts are to explain themselves

# Every engine that claims `sampled` or better, cold. `make test` runs them as root and as a user.
ENGINES = engine_params(["linux", *CONTAINERS])


# For what is about the embedded boxes, and means nothing in a container.
ON_LINUX = pytest.mark.parametrize("arena", ["linux"], indirect=True)
# For what gVisor's own kernel does otherwise, or has no meter for without cgroups (docs/docker.md).
ON_THE_HOSTS_KERNEL = pytest.mark.parametrize(
    "arena", engine_params(["linux", "docker"]), indirect=True
)
WARM_CONTAINERS = pytest.param("docker warm", marks=pytest.mark.as_root)


def in_languages(
    names: Mapping[str, str] | Iterable[str], title: str = "language"
) -> pytest.MarkDecorator:
    """Cases on every engine that has their language: containers have those of the tests' image."""
    languages = names if isinstance(names, Mapping) else {name: name for name in names}
    cases = [
        pytest.param(engine.values[0], case, marks=engine.marks, id=f"{engine.values[0]}-{case}")
        for engine in ENGINES
        for case, language in languages.items()
        if engine.values[0] == "linux" or language in LANGUAGES
    ]
    return pytest.mark.parametrize(("arena", title), cases, indirect=["arena"])


@pytest.fixture(params=ENGINES)
async def arena(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Arena]:
    """A fresh engine. The parameter `linux warm` stands for one with a warm interpreter, `docker
    warm` for one that uses its containers again."""
    # On a busy machine wiping takes its time, and a job would not wait so long for it.
    monkeypatch.setattr("coderunner.engines.docker.pool._WIPED_SOON_S", 30.0)
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
        yield Arena(runner, await runner.engine.capabilities())

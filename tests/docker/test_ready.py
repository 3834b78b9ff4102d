"""Containers that are kept ready: quicker, and no less fresh."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from coderunner.model import EndedBy, Limits, Outcome
from coderunner.workspace import Workspace
from tests.docker.conftest import NewEngine, that_wait
from tests.engines.bench import Bench

pytestmark = [pytest.mark.engines, pytest.mark.as_root]


@pytest.fixture
def ready(new_engine: NewEngine, workspace: Workspace) -> Bench:
    return Bench(new_engine(ready=2), workspace, image=True)


async def made(client: Any, number: int = 1) -> list[str]:
    """Wait for so many containers that wait for a job."""
    until = time.monotonic() + 30
    while len(found := that_wait(client)) != number:
        assert time.monotonic() < until, found
        await asyncio.sleep(0.05)
    return found


async def test_the_second_run_finds_one_ready(client: Any, ready: Bench) -> None:
    first = await ready.sh("echo $$ > /tmp/left; id -u")
    await made(client)
    second = await ready.sh("ls /tmp; id -u", stdin=b"x" * 100_000)
    assert (first.warm, second.warm) == (False, True)
    assert second.stdout.data != first.stdout.data  # another user, and an empty /tmp
    assert second.stdout.data.strip().isdigit()


async def test_its_limits_are_those_of_the_job(client: Any, ready: Bench) -> None:
    async def hog(memory_mb: int) -> Outcome:
        return await ready.python("x = bytearray(100 << 20); print('ok')", memory_mb=memory_mb)

    assert (await hog(memory_mb=200)).ok
    await made(client)
    small = await hog(memory_mb=50)
    assert (small.ended_by, small.warm) == (EndedBy.MEMORY, False)
    await made(client, 2)
    assert (await hog(memory_mb=50)).warm


async def test_one_that_somebody_has_ended_is_not_used(client: Any, ready: Bench) -> None:
    await ready.sh("true")
    [spare] = await made(client)
    client.containers.get(spare).kill()
    outcome = await ready.sh("echo fine")
    assert (outcome.stdout.data, outcome.warm) == (b"fine\n", False)


async def test_there_are_never_more_than_asked_for(client: Any, ready: Bench) -> None:
    for memory_mb in (64, 65, 66, 67):
        await ready.sh("true", memory_mb=memory_mb)
    await made(client, 2)


async def test_a_waiting_container_uses_no_time(client: Any, ready: Bench) -> None:
    await ready.sh("true")
    await made(client)
    await asyncio.sleep(1)
    outcome = await ready.sh("sleep 0.2; echo done", wall_ms=20_000)
    assert (outcome.warm, outcome.stdout.data) == (True, b"done\n")
    assert outcome.usage.wall_ms >= 190
    assert Limits().cpu_ms is None

"""However often and whenever a run is cancelled, nothing of it is left when its call returns."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from coderunner.engines.linux import LinuxEngine
from coderunner.execution import execute_and
from coderunner.workspace import Workspace
from tests.engines.bench import Bench
from tests.engines.every import EMBEDDED, engine_for_tests, engine_params
from tests.engines.held import held, held_with_children
from tests.properties.effort import LONG
from tests.support import require_sandbox

pytestmark = pytest.mark.engines

# Files to collect, output that has to be drained, input that fills its pipe.
SCRIPT = "echo left > out; head -c 200000 /dev/zero; cat > /dev/null; exit 3"


@pytest.fixture(params=engine_params([*EMBEDDED, "docker"]))
async def bench(request: pytest.FixtureRequest, workspace: Workspace) -> AsyncIterator[Bench]:
    engine = engine_for_tests(request, request.param)
    yield Bench(engine, workspace, image=engine.name == "docker")
    await engine.aclose()


async def collected(bench: Bench) -> int | None:
    job = replace(bench.job("/bin/sh", "-c", SCRIPT), collect=True)
    outcome, _ = await execute_and(bench.engine, job, os.listdir, stdin=bytes(300_000))
    return outcome.exit_code


def rounds(bench: Bench, number: int) -> int:
    """A container takes as long as fifty boxes."""
    return number if LONG or bench.engine.name != "docker" else number // 6


async def turns(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def cancelled(task: asyncio.Task[object], times: int, often: random.Random) -> None:
    for _ in range(times):
        task.cancel()
        await turns(often.randrange(8))
    await asyncio.wait({task})


@pytest.mark.parametrize("times", [1, 2, 5])
async def test_a_cancelled_run_leaves_nothing(bench: Bench, times: int) -> None:
    await collected(bench)
    before, chance = held(), random.Random(times)
    for _ in range(rounds(bench, 60)):
        run: asyncio.Task[object] = asyncio.create_task(collected(bench))
        await turns(chance.choice([3, 30, 300, 3000]) * chance.randrange(10) // 10)
        await cancelled(run, times, chance)
        assert held() == before
    assert await collected(bench) == 3


async def test_a_loop_that_ends_everything_at_once_leaves_nothing(bench: Bench) -> None:
    """As `asyncio.run` does when it leaves: all tasks, our own included."""
    await collected(bench)
    before, chance = held(), random.Random(1)
    for _ in range(rounds(bench, 40)):
        run: asyncio.Task[object] = asyncio.create_task(collected(bench))
        await turns(chance.choice([3, 30, 300]) * chance.randrange(10) // 10)
        for task in asyncio.all_tasks() - before[1]:
            task.cancel()
        await asyncio.wait({run})
        assert held() == before


@pytest.mark.parametrize("after", [0, 1, 3, 10, 100])
async def test_an_engine_that_is_closed_while_it_starts_leaves_nothing(
    workspace: Workspace, after: int
) -> None:
    require_sandbox()
    before, chance = held_with_children(), random.Random(after)
    engine = LinuxEngine()
    run: asyncio.Task[object] = asyncio.create_task(collected(Bench(engine, workspace)))
    await turns(after)
    run.cancel()
    await turns(2)
    run.cancel()
    closing: asyncio.Task[object] = asyncio.create_task(engine.aclose())
    await turns(2)
    await cancelled(closing, 2, chance)
    await asyncio.wait({run})
    assert held_with_children() == before


async def test_a_closed_engine_leaves_nothing_although_closing_was_cancelled(
    workspace: Workspace,
) -> None:
    require_sandbox()
    before = held_with_children()
    engine = LinuxEngine()
    await collected(Bench(engine, workspace))
    closing: asyncio.Task[object] = asyncio.create_task(engine.aclose())
    await turns(3)
    await cancelled(closing, 3, random.Random(1))
    assert held_with_children() == before

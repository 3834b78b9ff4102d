"""Warm interpreters asked for, looked at, ended by somebody else, and let go of."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable

import pytest

from coderunner import Runner, Settings
from coderunner.model import File, Program
from tests.hostile.surroundings import children, wait_for
from tests.support import require_sandbox, require_toolchain

pytestmark = pytest.mark.engines

HELLO = Program("python", (File("main.py", b"print('hello')"),))


@pytest.fixture
async def runner() -> AsyncIterator[Runner]:
    require_sandbox()
    require_toolchain("python")
    async with Runner.open(Settings(engine="linux")) as runner:
        yield runner


Look = Callable[[], list[int]]


@pytest.fixture
def interpreters() -> Look:
    """Those that a spawner of this test's has started. Other tests may have had some, too."""
    before = _all_interpreters()
    return lambda: [pid for pid in _all_interpreters() if pid not in before]


def _all_interpreters() -> list[int]:
    """A spawner's own command line they do not have."""
    return [
        pid
        for spawner in children(os.getpid())
        for pid in children(spawner)
        if "main.py" in _command(pid)
    ]


def _command(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return file.read()
    except OSError:
        return ""


def _is_dead(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


async def test_it_is_warm_once_it_was_asked_for(runner: Runner) -> None:
    assert not await runner.is_warm("python")
    assert await runner.warm_up("python")
    assert await runner.is_warm("python")
    outcome = (await runner.run(HELLO)).execution
    assert outcome is not None
    assert outcome.warm


async def test_asking_starts_none(runner: Runner, interpreters: Look) -> None:
    for _ in range(4):
        assert not await runner.is_warm("python")
    await asyncio.sleep(0.3)
    assert interpreters() == []


async def test_one_that_somebody_has_killed_is_not_warm(runner: Runner, interpreters: Look) -> None:
    assert await runner.warm_up("python")
    [pid] = interpreters()
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: _is_dead(pid))
    assert not await runner.is_warm("python")
    assert (await runner.run(HELLO)).stdout == "hello\n"
    assert await runner.warm_up("python")
    assert await runner.is_warm("python")


async def test_it_ends_when_it_is_let_go_of(runner: Runner, interpreters: Look) -> None:
    assert await runner.warm_up("python")
    for _ in range(3):  # boxes are made ahead of it
        await runner.run(HELLO)
    await runner.cool_down("python")
    assert not await runner.is_warm("python")
    for _ in range(100):
        if not interpreters():
            break
        await asyncio.sleep(0.05)
    assert interpreters() == []
    outcome = (await runner.run(HELLO)).execution
    assert outcome is not None
    assert (outcome.stdout.text, outcome.warm) == ("hello\n", False)


async def test_a_language_without_interpreters_is_never_warm(runner: Runner) -> None:
    assert not await runner.warm_up("bash")
    assert not await runner.is_warm("bash")
    await runner.cool_down("bash")

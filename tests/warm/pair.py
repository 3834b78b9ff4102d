"""Two runners, one that starts every interpreter cold and one that forks warm ones."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from coderunner import Limits, Outcome, Program, Runner, Settings

PATIENT = Limits(wall_ms=60_000)
_ADDRESS = re.compile(rb"0x[0-9a-f]{6,16}")
_TRIES = 100


@dataclass(frozen=True)
class Facts:
    """All that can be seen of a run. Addresses differ between any two runs, cold or warm."""

    ended_by: str
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes


def facts(outcome: Outcome) -> Facts:
    return Facts(
        ended_by=outcome.ended_by.value,
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        stdout=_ADDRESS.sub(b"0xADDRESS", outcome.stdout.data),
        stderr=_ADDRESS.sub(b"0xADDRESS", outcome.stderr.data),
    )


@dataclass(frozen=True)
class Pair:
    cold: Runner
    warm: Runner

    async def run_cold(self, program: Program, stdin: bytes | None = None) -> Outcome:
        outcome = (await self.cold.run(program, stdin=stdin, limits=PATIENT)).execution
        assert outcome is not None
        assert not outcome.warm
        return outcome

    async def run_warm(self, program: Program, stdin: bytes | None = None) -> Outcome:
        """An interpreter for a main file of another name is started once it was asked for."""
        for _ in range(_TRIES):
            outcome = (await self.warm.run(program, stdin=stdin, limits=PATIENT)).execution
            assert outcome is not None
            if outcome.warm:
                return outcome
            await asyncio.sleep(0.1)
        raise AssertionError("no interpreter has become warm")


@asynccontextmanager
async def open_pair(settings: Settings) -> AsyncIterator[Pair]:
    cold = settings.model_copy(update={"warm": False})
    async with Runner.open(cold) as runs_cold, Runner.open(settings) as runs_warm:
        assert await runs_warm.warm_up("python", limits=PATIENT)
        yield Pair(runs_cold, runs_warm)

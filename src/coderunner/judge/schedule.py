"""Many cases: some at once, in the time that there is for all of them, and none that is not needed.

What comes out does not depend on how many run at once: whatever would have been skipped if they had
run one after the other is skipped.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace

from coderunner.cancelling import cancel
from coderunner.judge.case import Case, Judged
from coderunner.judge.trial import Try
from coderunner.judge.verdict import Verdict

Skips = Callable[[int], Collection[int]]
"""Which later cases nobody needs to run once this one was rejected."""
Told = Callable[[int, Judged], Awaitable[None]]
"""Is told of each case that was run, as soon as it is judged."""

_SKIPPED = Judged(Verdict.SKIPPED, message="Not run: an earlier test had failed")
_OUT_OF_TIME = "Total timeout exceeded"


def none_skipped(index: int) -> Collection[int]:
    return ()


async def nobody_told(index: int, judged: Judged) -> None:
    return


@dataclass(frozen=True)
class Schedule:
    """How to go about it."""

    parallel: int = 1
    total_ms: int | None = None  # for all of them together
    skips: Skips = none_skipped
    told: Told = nobody_told

    async def run(self, attempt: Try, cases: Sequence[Case]) -> list[Judged]:
        return await _Round(self, attempt, cases).run()


class _Round:
    def __init__(self, schedule: Schedule, attempt: Try, cases: Sequence[Case]) -> None:
        self._schedule = schedule
        self._attempt = attempt
        self._cases = cases
        self._waiting = deque(range(len(cases)))
        self._running: dict[int, asyncio.Task[Judged]] = {}
        self._results: dict[int, Judged] = {}
        self._skipped: set[int] = set()
        total_ms = schedule.total_ms
        self._deadline = math.inf if total_ms is None else time.monotonic() + total_ms / 1000

    async def run(self) -> list[Judged]:
        try:
            while self._start():
                tasks = self._running.values()
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for index in [index for index, task in self._running.items() if task.done()]:
                    await self._finish(index)
        finally:
            await cancel(self._running.values())
        skipped: set[int] = set()
        for index in range(len(self._cases)):
            if index not in skipped and _is_rejected(self._results[index]):
                skipped.update(self._schedule.skips(index))
        return [
            _SKIPPED if index in skipped else self._results[index]
            for index in range(len(self._cases))
        ]

    def _start(self) -> bool:
        """As many as may run at once. False if there is none left."""
        while self._waiting and len(self._running) < self._schedule.parallel:
            index = self._waiting.popleft()
            if index not in self._skipped:
                self._running[index] = asyncio.create_task(self._try(self._cases[index]))
        return bool(self._running)

    async def _try(self, case: Case) -> Judged:
        left_ms = (self._deadline - time.monotonic()) * 1000
        if left_ms >= case.limits.wall_ms:
            return await self._attempt(case)
        if left_ms < 1:
            return Judged(Verdict.TIME_LIMIT, message=_OUT_OF_TIME)
        judged = await self._attempt(
            replace(case, limits=case.limits.but({"wall_ms": int(left_ms)}))
        )
        if judged.verdict is Verdict.TIME_LIMIT:  # it may have had too little
            return replace(judged, message=_OUT_OF_TIME)
        return judged

    async def _finish(self, index: int) -> None:
        if index not in self._running:
            return  # it was cancelled meanwhile
        judged = self._results[index] = self._running.pop(index).result()
        await self._schedule.told(index, judged)
        if _is_rejected(judged):
            self._skipped.update(self._schedule.skips(index))
            needless = [other for other in self._running if other in self._skipped]
            await cancel([self._running.pop(other) for other in needless])


def _is_rejected(judged: Judged) -> bool:
    return judged.verdict is not Verdict.ACCEPTED

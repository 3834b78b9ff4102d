"""Many tests: in turn or side by side, with the same results."""

from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderunner.errors import EngineUnavailable
from coderunner.judge.case import Case, Judged
from coderunner.judge.groups import Group, Member, skips
from coderunner.judge.schedule import Schedule, nobody_told, none_skipped
from coderunner.judge.verdict import Verdict
from coderunner.model import Limits

pytestmark = pytest.mark.unit

ACCEPTED, WRONG = Judged(Verdict.ACCEPTED), Judged(Verdict.WRONG_ANSWER)


class Attempts:
    """Plays a script: how long each case takes, and what comes of it."""

    def __init__(self, *script: tuple[float, Judged]) -> None:
        self.script = script
        self.started: list[int] = []
        self.finished: list[int] = []
        self.at_once = 0
        self.most_at_once = 0
        self.limits: list[Limits] = []

    @property
    def cases(self) -> list[Case]:
        return [Case(str(i), b"", b"", Limits(wall_ms=1000)) for i in range(len(self.script))]

    async def __call__(self, case: Case) -> Judged:
        number = int(case.id)
        seconds, judged = self.script[number]
        self.started.append(number)
        self.limits.append(case.limits)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(seconds)
        finally:
            self.at_once -= 1
        self.finished.append(number)
        return judged


def letters(found: list[Judged]) -> str:
    return "".join(
        {Verdict.ACCEPTED: "A", Verdict.SKIPPED: "-", Verdict.TIME_LIMIT: "T"}.get(j.verdict, "W")
        for j in found
    )


def stopping(count: int) -> Group:
    return Group("all", tuple(map(Member, range(count))), breaks=True)


async def test_one_after_the_other() -> None:
    attempts = Attempts((0.01, ACCEPTED), (0, WRONG), (0, ACCEPTED))
    assert letters(await Schedule().run(attempts, attempts.cases)) == "AWA"
    assert attempts.started == attempts.finished == [0, 1, 2]
    assert attempts.most_at_once == 1


async def test_side_by_side_results_keep_their_order() -> None:
    attempts = Attempts((0.05, ACCEPTED), (0.01, WRONG), (0, ACCEPTED), (0, WRONG))
    assert letters(await Schedule(parallel=2).run(attempts, attempts.cases)) == "AWAW"
    assert attempts.most_at_once == 2


async def test_stop_at_the_first_failure() -> None:
    attempts = Attempts((0, ACCEPTED), (0, WRONG), (0, ACCEPTED))
    schedule = Schedule(skips=skips(stopping(3)))
    assert letters(await schedule.run(attempts, attempts.cases)) == "AW-"
    assert attempts.started == [0, 1]


async def test_a_failure_ends_those_behind_it_at_once() -> None:
    attempts = Attempts((0.02, WRONG), (30, ACCEPTED), (0, ACCEPTED))
    began = time.monotonic()
    schedule = Schedule(parallel=2, skips=skips(stopping(3)))
    assert letters(await schedule.run(attempts, attempts.cases)) == "W--"
    assert time.monotonic() - began < 10
    assert attempts.at_once == 0


async def test_a_failure_does_not_end_those_before_it() -> None:
    attempts = Attempts((0.05, WRONG), (0, WRONG), (0, ACCEPTED))
    schedule = Schedule(parallel=2, skips=skips(stopping(3)))
    assert letters(await schedule.run(attempts, attempts.cases)) == "W--"
    assert 0 in attempts.finished


@given(
    rejected=st.lists(st.booleans(), min_size=1, max_size=8),
    delays=st.lists(st.integers(0, 3), min_size=8, max_size=8),
    parallel=st.integers(1, 4),
    borders=st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_how_many_run_at_once_changes_nothing(
    rejected: list[bool], delays: list[int], parallel: int, borders: list[bool]
) -> None:
    script = [
        (delay / 2000, WRONG if wrong else ACCEPTED)
        for delay, wrong in zip(delays, rejected, strict=False)
    ]
    middle = len(script) // 2
    groups = (
        Group("a", tuple(map(Member, range(middle))), breaks=borders[0]),
        Group("b", tuple(map(Member, range(middle, len(script)))), breaks=borders[1]),
    )
    after = skips(Group("all", groups, breaks=borders[2]))

    async def found(at_once: int) -> str:
        attempts = Attempts(*script)
        return letters(await Schedule(at_once, skips=after).run(attempts, attempts.cases))

    assert asyncio.run(found(1)) == asyncio.run(found(parallel))


async def test_what_has_no_time_left_has_timed_out() -> None:
    attempts = Attempts((0.06, ACCEPTED), (0, ACCEPTED), (0, ACCEPTED))
    found = await Schedule(total_ms=50).run(attempts, attempts.cases)
    assert letters(found) == "ATT"
    assert found[1].message == "Total timeout exceeded"
    assert attempts.started == [0]


async def test_the_last_test_gets_what_is_left() -> None:
    attempts = Attempts((0, ACCEPTED), (0, Judged(Verdict.TIME_LIMIT, message="its own")))
    found = await Schedule(total_ms=500).run(attempts, attempts.cases)
    assert all(0 < limits.wall_ms <= 500 for limits in attempts.limits)
    assert found[1].message == "Total timeout exceeded"


async def test_enough_time_leaves_limits_alone() -> None:
    attempts = Attempts((0, Judged(Verdict.TIME_LIMIT, message="its own")))
    found = await Schedule(total_ms=60_000).run(attempts, attempts.cases)
    assert attempts.limits[0].wall_ms == 1000
    assert found[0].message == "its own"


async def test_each_result_is_told_as_it_comes() -> None:
    attempts = Attempts((0.05, ACCEPTED), (0, WRONG))
    heard: list[tuple[int, Verdict]] = []

    async def told(index: int, judged: Judged) -> None:
        heard.append((index, judged.verdict))

    await Schedule(parallel=2, told=told).run(attempts, attempts.cases)
    assert heard == [(1, Verdict.WRONG_ANSWER), (0, Verdict.ACCEPTED)]


async def test_trouble_ends_everything() -> None:
    attempts = Attempts((30, ACCEPTED), (30, ACCEPTED))

    async def broken(case: Case) -> Judged:
        if case.id == "1":
            raise EngineUnavailable("gone")
        return await attempts(case)

    with pytest.raises(EngineUnavailable, match="gone"):
        await Schedule(parallel=2).run(broken, attempts.cases)
    assert attempts.at_once == 0


async def test_a_cancellation_ends_everything() -> None:
    attempts = Attempts((30, ACCEPTED), (30, ACCEPTED))
    running = asyncio.create_task(Schedule(parallel=2).run(attempts, attempts.cases))
    await asyncio.sleep(0.02)
    assert attempts.at_once == 2
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert attempts.at_once == 0


async def test_nobody_need_listen() -> None:
    await nobody_told(0, ACCEPTED)
    assert not none_skipped(0)

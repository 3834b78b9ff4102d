"""How long a submission may take: what somebody has said, or a multiple of what the slowest of the
accepted submissions takes.

It is cpu time that counts, as it is the same on a busy machine. Who speaks with an interactor is
measured on the clock, since much of what it does is waiting.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from coderunner.judge.case import Case
from coderunner.judge.problem.model import TimeLimit
from coderunner.judge.problem.report import Judgement
from coderunner.judge.verdict import Verdict
from coderunner.model import Limits

DEFAULT_MS = 2_000  # if nobody has said anything, and nobody sets an example
GENEROUS_MS = 20_000  # for those who set the limit


class Source(StrEnum):
    """Where a time limit comes from."""

    CALLER = "caller"
    PROBLEM = "problem"
    MEASURED = "measured"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class TimeFound:
    ms: int
    source: Source
    slowest: str = ""  # the submission that it was made to fit, and what that took
    slowest_ms: float = 0.0
    multiplier: float = 1.0

    def of(self, case: Case) -> int:
        """For one case: its own wins over the problem's, and the caller's over both."""
        return self.ms if self.source is Source.CALLER else case.time_ms or self.ms


def said(time: TimeLimit, by_caller_ms: int | None) -> TimeFound | None:
    if by_caller_ms is not None:
        return TimeFound(by_caller_ms, Source.CALLER)
    return None if time.ms is None else TimeFound(time.ms, Source.PROBLEM)


def found_out(time: TimeLimit, judgements: Iterable[Judgement]) -> TimeFound:
    """What fits all that were accepted. If none was: the default."""
    accepted = [judged for judged in judgements if judged.verdict is Verdict.ACCEPTED]
    slowest = max(accepted, key=lambda judged: judged.slowest_ms, default=None)
    if slowest is None:
        return TimeFound(DEFAULT_MS, Source.DEFAULT)
    wanted_ms = time.multiplier * slowest.slowest_ms
    steps = max(1, math.ceil(wanted_ms / time.resolution_ms))
    return TimeFound(
        steps * time.resolution_ms,
        Source.MEASURED,
        slowest.submission.name,
        slowest.slowest_ms,
        time.multiplier,
    )


def holds(judgement: Judgement, limit: TimeFound) -> bool:
    """Whether what was found with a generous limit would be found with this one."""
    return judgement.slowest_ms <= limit.ms


def generous(ceiling: Limits) -> TimeFound:
    ms = min(GENEROUS_MS, ceiling.cpu_ms or GENEROUS_MS, ceiling.wall_ms)
    return TimeFound(ms, Source.DEFAULT)


def with_time(limits: Limits, ms: int, ceiling: Limits) -> Limits:
    """A case's limits with the time. The clock has much more of it: a busy machine must not become
    a verdict. What a checker is to look at has to be kept whole."""
    wall_ms = 2 * ms + 1000
    if ms <= ceiling.wall_ms:
        wall_ms = min(wall_ms, ceiling.wall_ms)
    output_bytes = max(limits.output_bytes, limits.flood_bytes)
    return limits.but({"cpu_ms": ms, "wall_ms": wall_ms, "output_bytes": output_bytes})

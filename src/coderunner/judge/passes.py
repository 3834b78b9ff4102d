"""Problems in which the program is run again, with what its judge makes of its last answer.

Each pass is a run like any other, with all of the time and the memory. What the judge's program has
written down stays, so that it knows what was before.
"""

from __future__ import annotations

from dataclasses import replace

from coderunner.judge.case import Case, Judged
from coderunner.judge.trial import Try
from coderunner.judge.verdict import Verdict
from coderunner.model import Outcome, Usage

_BETWEEN = "\n---\n"  # two passes of a conversation


def several_passes(attempt: Try, most: int) -> Try:
    """Until one is rejected, or nobody asks for another."""

    async def judged(case: Case) -> Judged:
        passes: list[Judged] = []
        while True:
            passes.append(await attempt(case))
            checked = passes[-1].checked
            following = checked.next_pass if checked else None
            if following is None:
                return _together(passes)
            if len(passes) == most:
                return _too_many(passes, most)
            case = replace(case, input=following.input, feedback=following.feedback)

    return judged


def _together(passes: list[Judged]) -> Judged:
    """The last one says what is right. It took what the slowest and the largest took."""
    last = passes[-1]
    outcomes = [judged.outcome for judged in passes if judged.outcome is not None]
    outcome = last.outcome and replace(last.outcome, usage=_most(outcomes))
    transcript = _BETWEEN.join(judged.transcript for judged in passes if judged.transcript)
    return replace(last, outcome=outcome, transcript=transcript)


def _too_many(passes: list[Judged], most: int) -> Judged:
    judged = _together(passes)
    assert judged.checked is not None, "it has asked for another pass"
    why = f"the judge asks for more than {most} passes"
    checked = replace(judged.checked, verdict=Verdict.JUDGE_ERROR, message=why, next_pass=None)
    return replace(judged, verdict=Verdict.JUDGE_ERROR, message=why, checked=checked)


def _most(outcomes: list[Outcome]) -> Usage:
    used = [outcome.usage for outcome in outcomes]
    return Usage(
        wall_ms=max(usage.wall_ms for usage in used),
        cpu_ms=max(usage.cpu_ms for usage in used),
        memory_peak_kb=max(usage.memory_peak_kb for usage in used),
    )

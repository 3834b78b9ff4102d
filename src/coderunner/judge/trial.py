"""One program, one case: run it, and say what became of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from coderunner.build import Build
from coderunner.judge import verdict
from coderunner.judge.case import Case, Checked, Judged, load, trimmed
from coderunner.judge.checkers.opened import Check
from coderunner.judge.verdict import Verdict
from coderunner.model import Outcome

Try = Callable[[Case], Awaitable[Judged]]
"""Runs a case and judges it: in one go, or in a conversation."""

KEEP_BYTES = 64 * 1024  # of an output, in a result


def batch(build: Build, check: Check, *, keep_bytes: int = KEEP_BYTES) -> Try:
    """All of the input first, then all of the output."""

    async def judged(case: Case) -> Judged:
        given = await load(case.input)
        result = await build.run(limits=case.limits, stdin=given, args=case.args, files=case.files)
        outcome = result.outcome
        failed = verdict.of_run(outcome)
        checked = None if failed else await check(case, outcome.stdout.data)
        return conclude(case, trimmed(outcome, keep_bytes), checked)

    return judged


def conclude(case: Case, outcome: Outcome | None, checked: Checked | None) -> Judged:
    """`checked` is there if the run was one that a checker could look at."""
    if checked is None:
        assert outcome is not None, "a run that was not judged by a checker has an end of its own"
        failed = verdict.of_run(outcome)
        assert failed is not None, "a run that ended well is looked at by a checker"
        return Judged(failed, outcome, verdict.in_words(outcome, case.limits))
    message = checked.message if checked.verdict is Verdict.JUDGE_ERROR else ""
    return Judged(checked.verdict, outcome, message, checked)

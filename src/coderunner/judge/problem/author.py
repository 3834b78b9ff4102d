"""A report as it may be shown to whoever wrote a submission: of a hidden test there is its name,
its verdict, and what it took."""

from __future__ import annotations

from dataclasses import replace

from coderunner.judge.case import Checked, Judged
from coderunner.judge.problem.report import Judgement, Report
from coderunner.judge.verdict import Verdict
from coderunner.model import Outcome, Output

# Its own words, its exit code and its signal are things that a program can choose, after it has
# read its input.
_IN_GENERAL = {
    Verdict.RUN_TIME_ERROR: "Runtime error",
    Verdict.TIME_LIMIT: "Time limit exceeded",
    Verdict.MEMORY_LIMIT: "Memory limit exceeded",
    Verdict.OUTPUT_LIMIT: "Output limit exceeded",
    Verdict.JUDGE_ERROR: "The checker failed",
    Verdict.SKIPPED: "Not run: an earlier test had failed",
}


def for_author(report: Report) -> Report:
    shown = replace(report, for_author=True)
    judgements = tuple(_of_judgement(shown, judgement) for judgement in report.judgements)
    return replace(shown, judgements=judgements)


def _of_judgement(report: Report, judgement: Judgement) -> Judgement:
    cases = tuple(
        _hidden(case) if report.hides(place) else _sample(case)
        for place, case in enumerate(judgement.cases)
    )
    return replace(judgement, cases=cases)


def _hidden(judged: Judged) -> Judged:
    outcome = None if judged.outcome is None else _without_words(judged.outcome)
    return Judged(judged.verdict, outcome, _IN_GENERAL.get(judged.verdict, ""))


def _without_words(outcome: Outcome) -> Outcome:
    return replace(outcome, exit_code=None, signal=None, stdout=Output(), stderr=Output())


def _sample(judged: Judged) -> Judged:
    """What the checker says to the judges is not the author's, nor what it said as it failed."""
    failed = judged.verdict is Verdict.JUDGE_ERROR
    message = _IN_GENERAL[judged.verdict] if failed else judged.message
    checked = judged.checked and Checked(
        judged.checked.verdict,
        judged.checked.difference,
        to_author=judged.checked.to_author,
        score=judged.checked.score,
    )
    return replace(judged, message=message, checked=checked, transcript="")

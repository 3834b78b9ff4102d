"""What is said once all is judged: what went wrong where, and how many did what they should."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from coderunner.cli import judge_words as words
from coderunner.cli.limits import seconds
from coderunner.cli.screen import Line
from coderunner.judge.case import Checked, Judged
from coderunner.judge.problem.report import Judgement, Report
from coderunner.judge.verdict import Verdict, ending
from coderunner.model import EndedBy, Outcome

_INDENT = "  "
_COMPILER_LINES = 40


def sections(report: Report, width: int, *, named: bool, everything: bool) -> list[Line]:
    """One for each submission that is not what it should be. If they were `named`, whoever named
    them wants to know why one was rejected even if it had to be. With `everything`, all of its
    failed tests are shown, not just the first."""
    lines: list[Line] = []
    for judgement in report.judgements:
        rejected = named and judgement.verdict is not Verdict.ACCEPTED
        if judgement.verdict and (rejected or not judgement.good):
            lines += [_title(judgement, width)]
            lines += _of_submission(report, judgement, everything)
    return [*lines, *_not_judged(report, width)]


def _title(judgement: Judgement, width: int) -> Text:
    name = words.shown(judgement.submission.name)
    text = f" {name}: {words.judgement(judgement)} "
    return Text(text.center(width, "_"), style="" if judgement.good else "bold red")


def _of_submission(report: Report, judgement: Judgement, everything: bool) -> Iterator[str]:
    if judgement.verdict is Verdict.COMPILE_ERROR:
        assert judgement.compilation is not None
        said = judgement.compilation.error or judgement.compilation.output
        yield from words.excerpt(said, _COMPILER_LINES)
        return
    first = judgement.first_failed
    if first is None:
        yield "it was accepted in every test"
        return
    for place in range(first, len(judgement.cases)):
        failed = judgement.cases[place].verdict not in (Verdict.ACCEPTED, Verdict.SKIPPED)
        if failed and (everything or place == first):
            yield _headline(report, judgement, place)
            yield from of_case(report, judgement.cases[place], place)


def _headline(report: Report, judgement: Judgement, place: int) -> str:
    judged = judgement.cases[place]
    taken = f", {words.time(judgement.taken_ms(judged))}" if judged.outcome else ""
    name = words.shown(report.problem.cases[place].id)
    return f"test {name}: {words.verdict(judged.verdict)}{taken}"


def of_case(report: Report, judged: Judged, place: int) -> Iterator[str]:
    """Why a test was not accepted."""
    if report.hides(place):
        yield f"{_INDENT}(nothing more is shown of a hidden test)"
        return
    if judged.outcome is not None and judged.checked is None:
        yield f"{_INDENT}{_ending(report, judged.outcome, place)}"
    elif judged.message and judged.checked is None:
        yield from _indented(judged.message)
    if judged.checked is not None:
        yield from _by_checker(judged.checked)
        if report.for_author and judged.verdict is Verdict.JUDGE_ERROR:
            yield f"{_INDENT}{judged.message}"
    if judged.transcript:
        yield from _block("conversation (> the submission, < the interactor)", judged.transcript)
    if judged.outcome is not None and (said := judged.outcome.stderr.text.strip()):
        yield from _block("stderr", said)


def _ending(report: Report, outcome: Outcome, place: int) -> str:
    limit_ms = report.time_limit.of(report.problem.cases[place])
    if outcome.ended_by is EndedBy.CPU_TIME:
        return f"it used more than {seconds(limit_ms)} of cpu time"
    if outcome.ended_by is EndedBy.WALL_TIME:
        taken = seconds(outcome.usage.wall_ms)
        return f"it was stopped after {taken} on the clock; the limit is {seconds(limit_ms)}"
    return ending(outcome, report.problem.cases[place].limits)


def _by_checker(checked: Checked) -> Iterator[str]:
    if checked.difference is not None:
        yield from (f"{_INDENT}{line}" for line in str(checked.difference).split("\n"))
    if checked.message:
        yield from _block("the judge's message", checked.message)
    if checked.to_author:
        yield from _block("the message to the author", checked.to_author)


def _block(title: str, text: str) -> Iterator[str]:
    yield f"{_INDENT}{title}:"
    yield from _indented(text, 2 * _INDENT)


def _indented(text: str, indent: str = _INDENT) -> Iterator[str]:
    yield from (f"{indent}{line}" for line in words.excerpt(text))


def _not_judged(report: Report, width: int) -> Iterator[Line]:
    """Those of which more is to be said than their line has said already."""
    said = [(words.excerpt(one.reason), one) for one in report.not_judged]
    said = [(reason, one) for reason, one in said if one.hint or len(reason) > 1]
    if said:
        yield Text(" not judged ".center(width, "_"), style="yellow")
    for (reason, *more), judgement in said:
        yield f"{words.shown(judgement.submission.name)}: {reason}"
        yield from (f"{_INDENT}{line}" for line in more)
        if judgement.hint:
            yield f"{_INDENT}hint: {words.shown(judgement.hint)}"


def summary(report: Report, width: int) -> Text:
    """`=== 12 as expected, 1 not, 1 not judged in 3.21s ===`"""
    text = f" {', '.join(_counts(report)) or 'nothing judged'} in {report.seconds:.2f}s "
    return Text(text.center(width, "="), style="green" if report.ok else "bold red")


def _counts(report: Report) -> Iterator[str]:
    judged = [judgement for judgement in report.judgements if judgement.verdict]
    with_expectation = [one.good for one in judged if one.as_expected is not None]
    others = [one.good for one in judged if one.as_expected is None]
    for found, word in ((with_expectation, "as expected"), (others, "accepted")):
        if good := sum(found):
            yield f"{good} {word}"
        if bad := len(found) - good:
            yield f"{bad} not" if good else f"{bad} not {word}"
    if report.not_judged:
        yield f"{len(report.not_judged)} not judged"
    if report.left_out:
        yield f"{len(report.left_out)} not run"

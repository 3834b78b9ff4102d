"""What `judge --json` prints."""

from __future__ import annotations

import math

from coderunner.cli import exit_codes
from coderunner.cli.as_json import Json
from coderunner.judge.case import Judged
from coderunner.judge.groups import Graded
from coderunner.judge.problem.report import Judgement, Report
from coderunner.judge.problem.timing import TimeFound
from coderunner.judge.verdict import Verdict


def of_report(report: Report) -> Json:
    return {
        "problem": report.problem.name,
        "ok": report.ok,
        "exit_code": exit_codes.of_report(report),
        "engine": report.engine,
        "isolation": report.isolation.value,
        "time_limit": _time_limit(report.time_limit),
        "tests": len(report.problem.cases),
        "submissions": [_submission(report, judgement) for judgement in report.judgements],
        "not_run": [submission.name for submission in report.left_out],
        "seconds": round(report.seconds, 3),
    }


def _time_limit(found: TimeFound) -> Json:
    measured = found.slowest != ""
    return {
        "ms": found.ms,
        "from": found.source.value,
        "slowest": found.slowest if measured else None,
        "slowest_ms": round(found.slowest_ms, 3) if measured else None,
    }


def _submission(report: Report, judgement: Judgement) -> Json:
    submission, first = judgement.submission, judgement.first_failed
    return {
        "name": submission.name,
        "language": submission.program.language if submission.program else None,
        "verdict": judgement.verdict.value if judgement.verdict else None,
        "expected": _in_order(submission.expected),
        "expected_score": _bounds(submission.expected_score),
        "as_expected": judgement.as_expected,
        "reason": judgement.reason or None,
        "hint": judgement.hint or None,
        **_score(report, judgement),
        "time_ms": round(judgement.slowest_ms, 3) if judgement.cases else None,
        "memory_peak_kb": judgement.memory_peak_kb if judgement.cases else None,
        "first_failed": None if first is None else report.problem.cases[first].id,
        "compilation": _compilation(judgement),
        "tests": [_test(report, judgement, place) for place in range(len(judgement.cases))],
    }


def _in_order(expected: frozenset[Verdict] | None) -> list[str] | None:
    return None if expected is None else [one.value for one in Verdict if one in expected]


def _bounds(score: tuple[float, float] | None) -> list[float | None] | None:
    """At least, at most. JSON has no infinity, so null is no bound at all."""
    return None if score is None else [one if math.isfinite(one) else None for one in score]


def _score(report: Report, judgement: Judgement) -> Json:
    """Where points are given. Elsewhere they mean nothing."""
    if not report.problem.scoring or judgement.graded is None:
        return {"score": None, "max_score": None, "groups": []}
    graded = judgement.graded
    return {
        "score": graded.score,
        "max_score": graded.most,
        "groups": [_group(group) for group in graded.groups],
    }


def _group(graded: Graded) -> Json:
    return {
        "id": graded.id,
        "verdict": graded.verdict.value,
        "score": graded.score,
        "max_score": graded.most,
        "groups": [_group(inner) for inner in graded.groups],
    }


def _compilation(judgement: Judgement) -> Json | None:
    compilation = judgement.compilation
    if compilation is None:
        return None
    return {
        "ok": compilation.success,
        "time_ms": compilation.time_ms,
        "output": compilation.output,
        "error": compilation.error,
    }


def _test(report: Report, judgement: Judgement, place: int) -> Json:
    judged, case = judgement.cases[place], report.problem.cases[place]
    return {
        "id": case.id,
        "sample": place in report.problem.samples,
        "verdict": judged.verdict.value,
        "message": judged.message or None,
        **_usage(judged),
        **_checked(judged),
        "transcript": judged.transcript or None,
    }


def _usage(judged: Judged) -> Json:
    outcome = judged.outcome
    return {
        "cpu_ms": round(outcome.usage.cpu_ms, 3) if outcome else None,
        "wall_ms": round(outcome.usage.wall_ms, 3) if outcome else None,
        "memory_peak_kb": outcome.usage.memory_peak_kb if outcome else None,
        "exit_code": outcome.exit_code if outcome else None,
        "signal": outcome.signal if outcome else None,
        "stderr": (outcome.stderr.text or None) if outcome else None,
    }


def _checked(judged: Judged) -> Json:
    checked = judged.checked
    difference = checked.difference if checked else None
    return {
        "score": checked.score if checked else None,
        "difference": None if difference is None else str(difference),
        "feedback": (checked.to_author or None) if checked else None,
        "judge_message": (checked.message or None) if checked else None,
    }

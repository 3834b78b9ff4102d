"""What the judge has found, in words: verdicts, times, excerpts of what programs said.

Programs and packages are somebody else's. Whatever comes from them goes through `shown` or
`excerpt`, so that no escape code of theirs reaches a terminal or a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from coderunner.cli.limits import seconds
from coderunner.judge.difference import printable
from coderunner.judge.problem.report import Judgement
from coderunner.judge.problem.timing import Source, TimeFound
from coderunner.judge.verdict import Verdict

_MARKS = {
    Verdict.ACCEPTED: ".",
    Verdict.WRONG_ANSWER: "W",
    Verdict.TIME_LIMIT: "T",
    Verdict.MEMORY_LIMIT: "M",
    Verdict.OUTPUT_LIMIT: "O",
    Verdict.RUN_TIME_ERROR: "R",
    Verdict.JUDGE_ERROR: "J",
    Verdict.SKIPPED: "-",
}
WAITING = " "
_MANY_MARKS = 50
_LONGEST_LINE = 200
MOST_LINES = 20
_TAB = 4


def mark(verdict: Verdict) -> str:
    return _MARKS[verdict]


def marks(each: Sequence[str]) -> str:
    """A letter for each test. Many of them are counted: `.×97 W -×12`."""
    if len(each) <= _MANY_MARKS:
        return "".join(each)
    runs: list[tuple[str, int]] = []
    for letter in each:
        count = runs.pop()[1] if runs and runs[-1][0] == letter else 0
        runs.append((letter, count + 1))
    known = [(letter, count) for letter, count in runs if letter != WAITING]
    return " ".join(letter + (f"×{count}" if count > 1 else "") for letter, count in known)


def verdict(found: Verdict) -> str:
    return found.value.replace("_", " ")


def judgement(found: Judgement) -> str:
    """The verdict; and what it should have been, if it should."""
    if found.verdict is None:
        return "not judged"
    return verdict(found.verdict) + ("" if found.good else _instead(found))


def _instead(found: Judgement) -> str:
    expected, bounds = found.submission.expected, found.submission.expected_score
    if expected is not None and found.verdict not in expected:
        return f", expected {expectation(expected)}"
    if bounds is not None:
        return f" with score {found.score:g}, expected {_bounds(*bounds)}"
    return ""


def _bounds(low: float, high: float) -> str:
    if low == high:
        return f"{low:g}"
    if math.isinf(low):
        return f"at most {high:g}"
    return f"at least {low:g}" if math.isinf(high) else f"{low:g} to {high:g}"


def expectation(expected: Iterable[Verdict]) -> str:
    return " or ".join(verdict(one) for one in Verdict if one in expected)


def score(found: Judgement) -> str:
    return f"{found.score:g}/{found.graded.most:g}" if found.graded else "0"


def time(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.2f} s"


def memory(kilobytes: int) -> str:
    return f"{kilobytes / 1024:.1f} MB"


def time_limit(found: TimeFound) -> str:
    """How long, and who says so."""
    why = {
        Source.CALLER: "--time-limit",
        Source.PROBLEM: "the problem's",
        Source.MEASURED: (
            f"{found.multiplier:g} × {seconds(found.slowest_ms)}"
            f" of {shown(found.slowest)}, rounded up"
        ),
        Source.DEFAULT: "by default",
    }
    return f"time limit {seconds(found.ms)} ({why[found.source]})"


def shown(text: str) -> str:
    """Something short on one line, with nothing in it but what can be read."""
    return _cut(printable(text.expandtabs(_TAB)))


def excerpt(text: str, most: int = MOST_LINES) -> list[str]:
    """The beginning and the end of something long, line by line."""
    lines = text.strip("\n").split("\n")
    if len(lines) > most:
        left_out = len(lines) - most
        head, tail = lines[: most // 2], lines[-(most - most // 2) :]
        lines = [*head, f"[{left_out} lines left out]", *tail]
    return [shown(line.removesuffix("\r")) for line in lines]


def safe(text: str) -> str:
    """All of it, line by line, with nothing in it but what can be read."""
    return "\n".join(printable(line.expandtabs(_TAB)) for line in text.split("\n"))


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"

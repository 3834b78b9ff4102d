"""How judging goes, told while it goes: a line for each submission."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from coderunner.cli import judge_words as words
from coderunner.cli.screen import Screen
from coderunner.judge.case import Judged
from coderunner.judge.groups import Graded
from coderunner.judge.problem.judging import Listener
from coderunner.judge.problem.model import Problem, Submission
from coderunner.judge.problem.report import Judgement
from coderunner.judge.problem.timing import Source, TimeFound
from coderunner.judge.verdict import Verdict
from coderunner.model import Isolation

_GOOD, _BAD, _UNKNOWN = "green", "bold red", "yellow"
_WIDEST_NAME = 60
_VERDICT_WIDTH = len("memory limit exceeded")


class Progress(Listener):
    """Told to people. What is data goes to the screen, what is a remark to `remark`."""

    def __init__(
        self,
        screen: Screen,
        names: list[str],
        remark: Callable[[str], None],
        *,
        quiet: bool = False,
        verbose: bool = False,
    ) -> None:
        self._screen = screen
        self._name_width = min(_WIDEST_NAME, max(map(len, map(words.shown, names)), default=0))
        self._remark = remark
        self._quiet = quiet
        self._verbose = verbose
        self._problem: Problem | None = None
        self._where = ""
        self._told_of_problem = False
        self._marks: list[str] = []

    @property
    def problem(self) -> Problem:
        assert self._problem is not None, "it is told of first"
        return self._problem

    async def opens(self, problem: Problem, engine: str, isolation: Isolation) -> None:
        self._problem = problem
        self._where = f"{engine} engine, isolation {isolation.value}"

    async def time_limit(self, found: TimeFound) -> None:
        if found.source is Source.DEFAULT:
            self._remark(
                f"nobody says how long a submission may take, and none sets an example:"
                f" {words.time_limit(found)}"
            )
        if self._told_of_problem:
            await self._say(words.time_limit(found))
        else:
            await self._tell_of_problem(f", {words.time_limit(found)}")

    async def _tell_of_problem(self, time_limit: str = "") -> None:
        self._told_of_problem = True
        count = len(self.problem.cases)
        tests = f"{count} test{'' if count == 1 else 's'}"
        name = words.shown(self.problem.name)
        await self._say(f"{name}: {tests}{time_limit}, {_memory(self.problem)}, {self._where}")

    async def begins(self, submission: Submission, *, asked_for: bool) -> None:
        if not self._told_of_problem:
            await self._tell_of_problem()
        self._marks = [words.WAITING] * len(self.problem.cases)
        await self._change(submission)

    async def case(self, submission: Submission, place: int, judged: Judged) -> None:
        self._marks[place] = words.mark(judged.verdict)
        await self._change(submission)

    async def _change(self, submission: Submission) -> None:
        if not self._quiet:
            await self._screen.change(f"{self._name(submission)}  {words.marks(self._marks)}")

    async def ends(self, judgement: Judgement, *, asked_for: bool) -> None:
        if not asked_for:
            self._screen.clear()
            self._tell_of_example(judgement)
        elif not (self._quiet and judgement.good):
            await self._screen.say(self._line(judgement), *self._details(judgement))

    def _tell_of_example(self, judgement: Judgement) -> None:
        """Only what is odd about one that was run for the time limit's sake."""
        if judgement.verdict is not Verdict.ACCEPTED:
            name = words.shown(judgement.submission.name)
            why = f"it is not accepted ({words.judgement(judgement)})"
            self._remark(f"{name} does not set the time limit: {why}")

    def _line(self, judgement: Judgement) -> Text:
        each = [words.mark(case.verdict) for case in judgement.cases]
        room = min(len(self.problem.cases), 12)
        line = Text(f"{self._name(judgement.submission)}  {words.marks(each):<{room}}  ")
        if judgement.verdict is None:
            reason = words.excerpt(judgement.reason)[0]
            return line.append(f"not judged: {reason}", _UNKNOWN)
        style = _GOOD if judgement.good else _BAD
        line.append(f"{words.judgement(judgement):<{_VERDICT_WIDTH}}", style)
        if judgement.cases:
            line.append(f"  {words.time(judgement.slowest_ms):>7}")
            line.append(f"  {words.memory(judgement.memory_peak_kb):>8}")
        if self.problem.scoring and judgement.graded:
            line.append(f"  {words.score(judgement)}")
        line.rstrip()
        return line

    def _details(self, judgement: Judgement) -> list[str]:
        """With --verbose, what each test and each group came to."""
        if not self._verbose:
            return []
        lines = []
        if judgement.compilation and judgement.compilation.time_ms is not None:
            lines.append(f"    compiled in {words.time(judgement.compilation.time_ms)}")
        for case, judged in zip(self.problem.cases, judgement.cases, strict=False):
            used = _used(judgement, judged)
            lines.append(f"    {words.shown(case.id)}  {words.verdict(judged.verdict)}{used}")
        if self.problem.scoring and judgement.graded:
            lines += _groups(judgement.graded)
        return lines

    def _name(self, submission: Submission) -> str:
        return f"{words.shown(submission.name):<{self._name_width}}"

    async def _say(self, line: str) -> None:
        if not self._quiet:
            await self._screen.say(line)


def _memory(problem: Problem) -> str:
    allowed = {case.limits.memory_mb for case in problem.cases}
    low, high = min(allowed), max(allowed)
    return f"{high} MB" if low == high else f"{low} to {high} MB"


def _used(judgement: Judgement, judged: Judged) -> str:
    if judged.outcome is None:
        return ""
    peak = words.memory(judged.outcome.usage.memory_peak_kb)
    return f"  {words.time(judgement.taken_ms(judged))}  {peak}"


def _groups(graded: Graded) -> list[str]:
    """Those inside of it, and those inside of them."""
    lines = []
    for group in graded.groups:
        earned = f"{words.verdict(group.verdict)}  {group.score:g}/{group.most:g}"
        lines += [f"    group {words.shown(group.id)}  {earned}", *_groups(group)]
    return lines

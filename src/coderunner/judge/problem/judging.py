"""Submissions of a problem, judged one after the other.

    open the checker ─▶ find the time limit ─▶ each submission: compile ─▶ its cases ─▶ grade

Those that set the time limit come first. What came out of them is kept, not run again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from coderunner.build import Build
from coderunner.errors import InvalidInput, InvalidProgram, ToolchainMissing, UnknownLanguage
from coderunner.judge.case import Judged
from coderunner.judge.compiler import of_outcome
from coderunner.judge.groups import grade, skips
from coderunner.judge.judges import Judges, open_judges
from coderunner.judge.problem import timing
from coderunner.judge.problem.model import Problem, Submission
from coderunner.judge.problem.report import Judgement, Report
from coderunner.judge.problem.timing import TimeFound
from coderunner.judge.schedule import Schedule
from coderunner.judge.verdict import Verdict
from coderunner.model import Isolation, Program
from coderunner.runner import Runner

KEEP_BYTES = 16 * 1024  # of each case's output: there are many, and all are kept to the end


@dataclass(frozen=True, slots=True)
class How:
    """How to go about it."""

    time_limit_ms: int | None = None  # in place of the problem's
    parallel: int = 1  # cases that run at once
    fail_fast: bool = False  # no more submissions, once one is no good


class Listener:
    """Is told how it goes. Whoever does not care about something leaves it as it is."""

    async def opens(self, problem: Problem, engine: str, isolation: Isolation) -> None:
        """Before anything is run."""

    async def begins(self, submission: Submission, *, asked_for: bool) -> None:
        """With `asked_for` false it is only run to find the time limit."""

    async def case(self, submission: Submission, place: int, judged: Judged) -> None:
        """One case was run. Another that comes before it may still make it a skipped one."""

    async def ends(self, judgement: Judgement, *, asked_for: bool) -> None: ...

    async def time_limit(self, found: TimeFound) -> None:
        """It is known now. Those that set it have been told of already."""


async def judge(
    runner: Runner,
    problem: Problem,
    submissions: Sequence[Submission] | None = None,
    how: How | None = None,
    listener: Listener | None = None,
) -> Report:
    """Without `submissions`, all of the problem's own. `JudgeFailed` if its checker does not
    compile; what a submission lacks is in the report."""
    if not problem.cases:
        raise InvalidInput(f"{problem.name} has no tests", hint="there is nothing to judge by")
    asked = tuple(problem.submissions if submissions is None else submissions)
    async with open_judges(runner, problem.checker, problem.interactor) as judges:
        return await _Sitting(runner, problem, judges, how or How(), listener or Listener()).hold(
            asked
        )


class _Sitting:
    """The judges, and what has come before them so far."""

    def __init__(
        self, runner: Runner, problem: Problem, judges: Judges, how: How, listener: Listener
    ) -> None:
        self._runner = runner
        self._problem = problem
        self._judges = judges
        self._how = how
        self._listener = listener
        self._known: dict[Submission, Judgement] = {}

    async def hold(self, asked: tuple[Submission, ...]) -> Report:
        started = time.monotonic()
        engine, isolation = self._runner.engine.name, await self._runner.isolation()
        await self._listener.opens(self._problem, engine, isolation)
        limit = timing.said(self._problem.time, self._how.time_limit_ms)
        if limit is None:
            limit = await self._find_time_limit(asked)
        await self._listener.time_limit(limit)
        # Those that have set the limit have been told of; what is left is told in this order.
        in_turn = sorted(asked, key=lambda submission: submission not in self._known)
        judged: dict[Submission, Judgement] = {}
        for submission in in_turn:
            judged[submission] = await self._within(submission, limit)
            if self._how.fail_fast and not judged[submission].good:
                break
        return Report(
            problem=self._problem,
            judgements=tuple(judged[one] for one in asked if one in judged),
            left_out=tuple(one for one in asked if one not in judged),
            time_limit=limit,
            engine=engine,
            isolation=isolation,
            seconds=time.monotonic() - started,
        )

    async def _find_time_limit(self, asked: tuple[Submission, ...]) -> TimeFound:
        """Run those that set it, with time enough: the problem's own. Nobody chooses the limit for
        what they have handed in themselves."""
        setting = [one for one in self._problem.submissions if one.sets_time_limit]
        generous = timing.generous(self._runner.settings.ceiling)
        tried = []
        for submission in dict.fromkeys(setting):
            wanted = submission in asked
            await self._listener.begins(submission, asked_for=wanted)
            judgement = await self._judge(submission, generous)
            tried.append(judgement)
            if judgement.verdict is Verdict.ACCEPTED or not wanted:
                await self._listener.ends(judgement, asked_for=wanted)
            if wanted:
                self._known[submission] = judgement
                if self._how.fail_fast and not judgement.good:
                    break
        return timing.found_out(self._problem.time, tried)

    async def _within(self, submission: Submission, limit: TimeFound) -> Judgement:
        """What is known of a submission already, or what comes out now."""
        known = self._known.get(submission)
        if known is not None and timing.holds(known, limit):
            if known.verdict is not Verdict.ACCEPTED:  # those have been told of
                await self._listener.ends(known, asked_for=True)
            return known
        await self._listener.begins(submission, asked_for=True)
        judgement = await self._judge(submission, limit)
        await self._listener.ends(judgement, asked_for=True)
        return judgement

    async def _judge(self, submission: Submission, limit: TimeFound) -> Judgement:
        if submission.program is None:
            return Judgement(submission, None, reason=submission.problem or "it has no program")
        async with AsyncExitStack() as stack:
            try:
                build = await stack.enter_async_context(
                    self._runner.build(
                        self._completed(submission.program),
                        compile_limits=self._problem.compile_limits,
                    )
                )
                return await self._run(submission, build, limit)
            except (InvalidProgram, UnknownLanguage, ToolchainMissing) as error:
                return Judgement(submission, None, reason=error.message, hint=error.hint)

    def _completed(self, program: Program) -> Program:
        """With the files that the problem adds; they win over its own of the same name."""
        language = self._runner.languages.get(program.language).name
        added = self._problem.included.get(language, ())
        files = {file.name: file for file in (*program.files, *added)}
        return replace(program, files=tuple(files.values()))

    async def _run(self, submission: Submission, build: Build, limit: TimeFound) -> Judgement:
        compilation = of_outcome(build.compilation) if build.compilation else None
        if not build.ok:
            return Judgement(submission, Verdict.COMPILE_ERROR, compilation=compilation)
        root, ceiling = self._problem.root, self._runner.settings.ceiling

        async def told(place: int, judged: Judged) -> None:
            await self._listener.case(submission, place, judged)

        cases = [
            replace(case, limits=timing.with_time(case.limits, limit.of(case), ceiling))
            for case in self._problem.cases
        ]
        schedule = Schedule(self._how.parallel, self._problem.total_ms, skips(root), told)
        results = await schedule.run(self._judges.attempt(build, keep_bytes=KEEP_BYTES), cases)
        graded = grade(root, results)
        return Judgement(
            submission,
            graded.verdict,
            tuple(results),
            graded,
            compilation,
            on_clock=self._judges.interactor is not None,
        )

"""Who judges a run: a checker, an interactor, or an interactor and then a checker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from coderunner.build import Build
from coderunner.judge.checkers.custom import CheckerProgram
from coderunner.judge.checkers.opened import Check, Checker, open_checker
from coderunner.judge.checkers.program import JudgeProgram, Opened, opened
from coderunner.judge.interaction import interactive
from coderunner.judge.passes import several_passes
from coderunner.judge.trial import Try, batch
from coderunner.runner import Runner


@dataclass(frozen=True, slots=True)
class Judges:
    """Ready to be asked."""

    check: Check | None
    interactor: Opened | None = None
    passes: int = 1

    def attempt(self, build: Build, *, keep_bytes: int) -> Try:
        once = self._once(build, keep_bytes)
        return once if self.passes == 1 else several_passes(once, self.passes)

    def _once(self, build: Build, keep_bytes: int) -> Try:
        if self.interactor is not None:
            return interactive(build, self.interactor, self.check, keep_bytes=keep_bytes)
        assert self.check is not None, "who is to say what is right?"
        return batch(build, self.check, keep_bytes=keep_bytes)


@asynccontextmanager
async def open_judges(
    runner: Runner, checker: Checker | JudgeProgram, interactor: JudgeProgram | None = None
) -> AsyncIterator[Judges]:
    """`JudgeFailed` if one of them does not compile. Beside an interactor, a checker has only
    something to say if it is a program: that knows what to look for in what is left behind."""
    async with AsyncExitStack() as stack:
        check, ready = None, None
        if interactor is not None:
            ready = await stack.enter_async_context(opened(runner, interactor))
        if interactor is None or isinstance(checker, JudgeProgram | CheckerProgram):
            check = await stack.enter_async_context(open_checker(checker, runner))
        asking = (one for one in (interactor, checker) if isinstance(one, JudgeProgram))
        yield Judges(check, ready, max((one.passes for one in asking), default=1))

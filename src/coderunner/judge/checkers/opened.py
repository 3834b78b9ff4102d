"""A checker that is ready to be asked, whatever kind it is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from coderunner.cancelling import in_thread
from coderunner.judge.case import Case, Checked, Comparing, load
from coderunner.judge.checkers import program
from coderunner.judge.checkers.custom import CheckerProgram
from coderunner.judge.checkers.program import JudgeProgram
from coderunner.judge.checkers.regex import Regex
from coderunner.judge.checkers.text import Exact, IgnoreCase, Normalized, UnorderedLines
from coderunner.judge.checkers.tokens import Tokens
from coderunner.judge.verdict import Verdict
from coderunner.runner import Runner

Checker = Normalized | Exact | IgnoreCase | UnorderedLines | Tokens | Regex | CheckerProgram
Check = Callable[[Case, bytes], Awaitable[Checked]]

_MANY_BYTES = 256 * 1024  # comparing more takes long enough to keep others from running

_RIGHT = Checked(Verdict.ACCEPTED)


@asynccontextmanager
async def open_checker(checker: Checker | JudgeProgram, runner: Runner) -> AsyncIterator[Check]:
    """`JudgeFailed` if it is a program that does not compile."""
    if isinstance(checker, Regex):
        checker = checker.as_program()
    elif isinstance(checker, CheckerProgram):
        checker = checker.as_program(runner.languages)
    if isinstance(checker, JudgeProgram):
        async with program.opened(runner, checker) as opened:
            yield opened.check
    else:
        yield _by_comparing(checker)


def _by_comparing(checker: Comparing) -> Check:
    async def check(case: Case, output: bytes) -> Checked:
        answer = await load(case.answer)
        chosen = case.checker or checker
        if len(answer) + len(output) > _MANY_BYTES:
            found = await in_thread(lambda: chosen.compare(answer, output))
        else:
            found = chosen.compare(answer, output)
        return _RIGHT if found is None else Checked(Verdict.WRONG_ANSWER, found)

    return check

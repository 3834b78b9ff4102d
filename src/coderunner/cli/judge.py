"""`coderunner judge`: submissions of a problem, and whether they do what they should."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from coderunner.cli.options import AsJson, EngineName, IsolationLevel, Language, settings_from

if TYPE_CHECKING:
    from pathlib import Path

    from coderunner.cli.judge_typed import Typed
    from coderunner.cli.screen import Screen
    from coderunner.errors import CodeRunnerError
    from coderunner.judge.problem.judging import How, Listener
    from coderunner.judge.problem.model import Problem, Submission
    from coderunner.judge.problem.report import Report
    from coderunner.settings import Settings


def judge(
    problem: Annotated[
        str,
        typer.Argument(
            metavar="PROBLEM",
            help="A problem package, a folder of NAME.in and NAME.ans, or a JSON or YAML file.",
            show_default=False,
        ),
    ],
    submissions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SUBMISSION]...",
            help="What to judge: files, or directories with several. [default: the problem's own]",
            show_default=False,
        ),
    ] = None,
    language: Language = None,
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--time-limit", metavar="TIME", help="Cpu time of a test. [default: the problem's]"
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option("--memory", metavar="SIZE", help="Memory of a test. [default: the problem's]"),
    ] = None,
    jobs: Annotated[
        str, typer.Option("-j", "--jobs", metavar="N", help="Tests at once; auto: one per core.")
    ] = "1",
    fail_fast: Annotated[
        bool,
        typer.Option("-x", "--fail-fast", help="Stop at the first submission that is no good."),
    ] = False,
    tests: Annotated[
        str | None,
        typer.Option(
            "-k", "--tests", metavar="PATTERN", help="Only tests with this in their name; globs."
        ),
    ] = None,
    checker: Annotated[
        str | None,
        typer.Option(
            "--checker",
            metavar="KIND",
            help="normalized, exact, tokens, ignore_case or unordered_lines, not the problem's.",
        ),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option("--tolerance", metavar="NUMBER", help="Of numbers, for --checker tokens."),
    ] = None,
    for_author: Annotated[
        bool,
        typer.Option(
            "--for-author", help="Show nothing of tests that are no samples but their names."
        ),
    ] = False,
    junit: Annotated[
        str | None, typer.Option("--junit", metavar="FILE", help="Write JUnit's XML, too.")
    ] = None,
    engine: EngineName = None,
    isolation: IsolationLevel = None,
    as_json: AsJson = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Only what is no good, and the summary.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="A line for each test; all that failed.")
    ] = False,
) -> int:
    """Judge submissions of a problem.

    Without a SUBMISSION, all that the problem brings are judged, and each must get the verdict that
    its folder or the package says. One that you name must do so if it is the problem's; any other
    must be accepted.

    \b
    coderunner judge problems/hello
    coderunner judge problems/hello solution.py --time-limit 2s
    coderunner judge problems/hello -j auto --junit report.xml
    coderunner judge tests/ solution.cpp --checker tokens --tolerance 1e-6

    The time limit is one of cpu time; the clock has twice as much and a second. If the problem has
    none, it is made to fit its accepted submissions; if there is none, it is 2s.

    In a line: . accepted, W wrong answer, T time limit, M memory limit, O output limit,
    R run time error, J the checker failed, - not run.

    \b
    Exit codes:
      0  all are as expected, or accepted    1  one is not
      2  usage                               3  cannot be judged here: no usable engine,
                                                no toolchain, a checker that does not compile
    """
    from coderunner.cli import interrupts, units
    from coderunner.cli import junit as xml
    from coderunner.cli.judge_typed import Typed, quantity
    from coderunner.cli.judge_typed import checker as checker_of
    from coderunner.judge.problem.judging import How

    def limit_ms(text: str) -> int:
        return quantity("--time-limit", units.milliseconds, text)

    def limit_mb(text: str) -> int:
        return quantity("--memory", units.megabytes, text)

    order = Order(
        typed=Typed(
            problem,
            tuple(submissions or ()),
            language,
            tests,
            None if memory is None else limit_mb(memory),
            checker_of(checker, tolerance),
        ),
        how=How(None if time_limit is None else limit_ms(time_limit), _jobs(jobs), fail_fast),
        settings=settings_from(engine, isolation),
        for_author=for_author,
        junit=None if junit is None else xml.place(junit),
        as_json=as_json,
        quiet=quiet,
        verbose=verbose and not quiet,
    )
    return interrupts.run(_carry_out(order))


def _jobs(text: str) -> int:
    from coderunner.cli import units
    from coderunner.cli.judge_typed import quantity

    if text == "auto":
        return len(os.sched_getaffinity(0))
    return quantity("--jobs", units.count, text)


@dataclass(frozen=True, slots=True)
class Order:
    """What was asked for, understood."""

    typed: Typed
    how: How
    settings: Settings
    for_author: bool
    junit: Path | None
    as_json: bool
    quiet: bool
    verbose: bool


async def _carry_out(order: Order) -> int:
    from coderunner.cli import exit_codes, judge_json, junit
    from coderunner.cli.as_json import write
    from coderunner.cli.screen import Screen
    from coderunner.errors import CodeRunnerError
    from coderunner.judge.problem.author import for_author

    screen = Screen()
    try:
        report = await _judged(order, screen)
    except CodeRunnerError as error:
        _make_safe(error, for_author=order.for_author)
        raise
    finally:
        screen.clear()
    if order.for_author:
        report = for_author(report)
    if order.as_json:
        write(judge_json.of_report(report))
    else:
        await _show(order, report, screen)
    if order.junit is not None:
        junit.write(report, order.junit)
    return exit_codes.of_report(report)


def _make_safe(error: CodeRunnerError, *, for_author: bool) -> None:
    """A broken checker's error has the compiler's words in it, and those have the checker's code.
    Whoever wrote that may have put anything into it; and it is not the author's to see."""
    from coderunner.cli import judge_words
    from coderunner.errors import JudgeFailed

    if for_author and isinstance(error, JudgeFailed):
        error.message = error.message.partition("\n")[0].rstrip(":")
    error.message = judge_words.safe(error.message)
    error.hint = judge_words.safe(error.hint)


async def _judged(order: Order, screen: Screen) -> Report:
    from coderunner.cancelling import in_thread
    from coderunner.cli import judge_typed, messages
    from coderunner.judge.problem.judging import judge
    from coderunner.notices import ignore
    from coderunner.runner import Runner

    is_wanted = not order.as_json and (order.verbose or (os.isatty(2) and not order.quiet))
    notice = messages.news(before=screen.clear) if is_wanted else ignore
    async with Runner.open(order.settings, notice=notice) as runner:
        problem, submissions = await in_thread(
            lambda: judge_typed.read(order.typed, runner.languages)
        )
        listener = _listener(order, screen, problem, submissions)
        return await judge(runner, problem, submissions, order.how, listener)


def _listener(
    order: Order, screen: Screen, problem: Problem, submissions: tuple[Submission, ...]
) -> Listener | None:
    from coderunner.cli import messages
    from coderunner.cli.judge_progress import Progress

    if order.as_json:
        return None

    def remark(text: str) -> None:
        if not order.quiet:
            screen.clear()
            messages.notice(text)

    names = [submission.name for submission in submissions]
    return Progress(screen, names, remark, quiet=order.quiet, verbose=order.verbose)


async def _show(order: Order, report: Report, screen: Screen) -> None:
    from coderunner.cli.judge_report import sections, summary

    found = sections(
        report, screen.width, named=bool(order.typed.submissions), everything=order.verbose
    )
    await screen.say(*found, summary(report, screen.width))

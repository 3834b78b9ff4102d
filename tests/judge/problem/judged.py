"""A package, judged by all that it brings."""

from __future__ import annotations

from pathlib import Path

from coderunner import Runner
from coderunner.judge.problem.judging import judge
from coderunner.judge.problem.reading import read_problem
from coderunner.judge.problem.report import Judgement
from tests.judge.problem.making import Files, package


async def judged(folder: Path, files: Files, *, yaml: str) -> dict[str, Judgement]:
    """By the names of the submissions."""
    async with Runner.open() as runner:
        problem = read_problem(package(folder, files, yaml=yaml), runner.languages)
        report = await judge(runner, problem)
    return {one.submission.name: one for one in report.judgements}

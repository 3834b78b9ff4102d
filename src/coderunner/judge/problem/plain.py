"""A plain folder of tests: NAME.in, and NAME.ans or NAME.out beside it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from coderunner.judge.case import Case
from coderunner.judge.groups import Group, Member
from coderunner.judge.problem.folder import Folder
from coderunner.judge.problem.icpc.metadata import case_limits
from coderunner.judge.problem.icpc.time_limit import in_other_files, milliseconds
from coderunner.judge.problem.model import Problem, TimeLimit
from coderunner.judge.problem.submissions import belonging, read_submissions
from coderunner.language import Languages

_ANSWERS = (".ans", ".out")
_NUMBER = re.compile(r"([0-9]+)")


def inputs(folder: Folder) -> list[Path]:
    """In the order in which people count: 2 before 10."""
    found = (path for path in folder.entries(folder.root) if path.suffix == ".in")
    return sorted((path for path in found if folder.has_file(path)), key=_natural)


def read_folder(folder: Folder, languages: Languages) -> Problem:
    cases = tuple(_case(folder, path) for path in inputs(folder))
    seconds = in_other_files(folder)
    problem = Problem(
        name=folder.root.name,
        path=folder.root,
        cases=cases,
        root=Group("all", tuple(map(Member, range(len(cases)))), breaks=True),
        time=TimeLimit(None if seconds is None else milliseconds(seconds)),
    )
    own = read_submissions(folder, belonging(problem, languages))
    return replace(problem, submissions=own)


def _case(folder: Folder, path: Path) -> Case:
    answers = [path.with_suffix(suffix) for suffix in _ANSWERS]
    answer = next((answer for answer in answers if folder.has_file(answer)), None)
    if answer is None:
        names = " or ".join(answer.name for answer in answers)
        raise folder.error(path, "its answer is missing", hint=f"put {names} beside it")
    return Case(path.stem, folder.data(path), folder.data(answer), case_limits())


def _natural(path: Path) -> list[tuple[int, str]]:
    """Numbers by their value, all else by its letters."""
    parts = _NUMBER.split(path.stem)
    return [(len(p.lstrip("0")), p.lstrip("0")) if i % 2 else (0, p) for i, p in enumerate(parts)]

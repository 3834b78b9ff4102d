"""Problems made of a few lines: what is not said is as simple as can be."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

import pytest

from coderunner.errors import InvalidInput
from coderunner.judge.problem.model import Problem, Submission
from coderunner.judge.problem.reading import read_problem
from coderunner.judge.verdict import Verdict
from coderunner.language import Languages

Files = Mapping[str, str | bytes]

languages = functools.cache(Languages)

ONE_TEST = {"data/secret/1.in": "1\n", "data/secret/1.ans": "1\n"}
NEWER = "problem_format_version: 2025-09\nname: X\n"


def one_of(*verdicts: Verdict) -> frozenset[Verdict]:
    return frozenset(verdicts)


def write(folder: Path, files: Files) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def pairs(*names: str, folder: str = "data/secret") -> dict[str, str | bytes]:
    return {f"{folder}/{name}.{end}": f"{name}\n" for name in names for end in ("in", "ans")}


def package(folder: Path, files: Files | None = None, *, yaml: str = "name: X\n") -> Path:
    """One with a secret test, unless `files` has tests of its own."""
    given = files or {}
    own = any(name.startswith("data/") for name in given)
    return write(folder, {"problem.yaml": yaml, **({} if own else ONE_TEST), **given})


def read(folder: Path, files: Files | None = None, *, yaml: str = "name: X\n") -> Problem:
    return opened(package(folder, files, yaml=yaml))


def opened(path: Path) -> Problem:
    """What lies there already."""
    return read_problem(path, languages())


def turned_away(path: Path) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        opened(path)
    return caught.value


def refused(folder: Path, files: Files | None = None, *, yaml: str = "name: X\n") -> InvalidInput:
    return turned_away(package(folder, files, yaml=yaml))


def ids(problem: Problem) -> list[str]:
    return [case.id for case in problem.cases]


def submission(problem: Problem, name: str) -> Submission:
    return next(one for one in problem.submissions if one.name == name)


def program_files(one: Submission) -> list[str]:
    assert one.program is not None, one.problem
    return [file.name for file in one.program.files]

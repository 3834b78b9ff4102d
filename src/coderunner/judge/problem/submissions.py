"""Submissions: those that a problem brings, and those that somebody names."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coderunner.errors import InvalidInput
from coderunner.judge.case import Judged
from coderunner.judge.groups import grade
from coderunner.judge.problem import expectations
from coderunner.judge.problem.expectations import ACCEPTED, PARTIAL, Verdicts
from coderunner.judge.problem.folder import Folder
from coderunner.judge.problem.icpc.constants import filled_in
from coderunner.judge.problem.model import Problem, Submission
from coderunner.judge.problem.sources import Included, program_of
from coderunner.judge.problem.submission_rules import Rules, read_rules
from coderunner.judge.verdict import Verdict
from coderunner.language import Languages
from coderunner.model import File

FOLDER = "submissions"
_LESS = 1e-6  # than the full score, by this share of it


@dataclass(frozen=True, slots=True)
class Belonging:
    """What submissions have from their problem."""

    languages: Languages
    included: Included = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    less_than: float | None = None  # what a part of the points is a part of
    partial: Verdicts = ACCEPTED  # of those that get a part of the points


def belonging(problem: Problem, languages: Languages) -> Belonging:
    full = grade(problem.root, [Judged(Verdict.SKIPPED)] * len(problem.cases)).most
    return Belonging(languages, problem.included, less_than=full if problem.scoring else None)


def read_submissions(folder: Folder, belonging: Belonging) -> tuple[Submission, ...]:
    """All of a problem's own: each file and each directory in submissions/FOLDER/."""
    base = folder / FOLDER
    belonging = replace(belonging, rules=read_rules(folder, base))
    found: list[Submission] = []
    for kind in folder.entries(base):
        for entry in folder.entries(kind):
            if files := filled_in(folder.files(entry), belonging.constants):
                found.append(_or_why_not(f"{kind.name}/{entry.name}", files, belonging))
    return tuple(found)


def read_submission(
    paths: Sequence[Path], languages: Languages, problem: Problem | None = None, language: str = ""
) -> Submission:
    """One that was named: a file, a directory, or several files of which the first is the main one.
    What is expected of it follows from the folder that it lies in, or from a comment."""
    if not paths:
        raise InvalidInput("a submission needs a file")
    full = [Path(os.path.abspath(path)) for path in paths]
    if problem is not None and len(full) == 1 and not language:
        known = {problem.path / FOLDER / own.name: own for own in problem.submissions}
        own = known.get(full[0].parent.resolve() / full[0].name)
        if own is not None and own.program is not None:
            return own
    name, files, entry = _named(full, problem)
    around = Belonging(languages) if problem is None else belonging(problem, languages)
    return _submission(name, files, around, language=language, entry=entry)


def _named(paths: Sequence[Path], problem: Problem | None) -> tuple[str, tuple[File, ...], str]:
    """The submission's name, its files, and the one to start if there is a choice."""
    kind = paths[0].parent.name
    name = f"{kind}/{paths[0].name}" if expectations.is_known(kind) else paths[0].name
    if len(paths) == 1:
        return name, _read(paths[0], problem), ""
    base = os.path.commonpath([path.parent for path in paths])
    files = []
    for path in paths:
        if path.is_dir():
            raise InvalidInput(
                f"{path} is a directory", hint="name one directory, or several files"
            )
        files.append(replace(_read(path, problem)[0], name=os.path.relpath(path, base)))
    return name, tuple(files), files[0].name


def _read(path: Path, problem: Problem | None) -> tuple[File, ...]:
    if not path.exists():
        raise InvalidInput(f"there is no submission {str(path)!r}")
    real = path.resolve()
    if not real.is_dir():
        return (File(path.name, Folder(real.parent).read(real)),)
    inside = problem is not None and real.is_relative_to(problem.path)
    folder = Folder(problem.path if problem is not None and inside else real)
    if not (files := folder.files(real)):
        raise InvalidInput(f"there is no file in {str(path)!r}")
    return files


def _or_why_not(name: str, files: tuple[File, ...], belonging: Belonging) -> Submission:
    try:
        return _submission(name, files, belonging)
    except InvalidInput as error:
        return Submission(name, None, problem=error.message)


def _submission(
    name: str,
    files: tuple[File, ...],
    belonging: Belonging,
    *,
    language: str = "",
    entry: str = "",
) -> Submission:
    rules = belonging.rules.of(name)
    program = program_of(
        files,
        belonging.languages,
        name=Path(name).name,
        language=language or next((rule.language for rule in rules if rule.language), ""),
        entry=entry or next((rule.entry for rule in rules if rule.entry), ""),
        included=belonging.included,
    )
    compiled = bool(belonging.languages.get(program.language).compile)
    submission = Submission(
        name,
        program,
        expected=expectations.in_language(_expected(name, files, belonging), compiled=compiled),
        expected_score=next((rule.score for rule in rules if rule.score), None),
    )
    said = next((r.sets_time_limit for r in rules if r.sets_time_limit is not None), None)
    partial = name.startswith(f"{PARTIAL}/")
    sets = submission.expected == ACCEPTED and not partial if said is None else said
    submission = replace(submission, sets_time_limit=sets)
    return _partial(submission, belonging) if partial else submission


def _expected(name: str, files: tuple[File, ...], belonging: Belonging) -> Verdicts | None:
    """A comment says more than a folder can."""
    by_comment = expectations.of_comment(files)
    if by_comment is not None:
        return by_comment or None
    expected = belonging.rules.expected(name)
    if expected is not None and not expected:
        raise InvalidInput("what submissions.yaml says of it contradicts itself")
    return expected


def _partial(submission: Submission, belonging: Belonging) -> Submission:
    """Accepted, but not for all of the points. Where there are no points, that means nothing."""
    full = belonging.less_than
    if full is None:
        return replace(submission, expected=None)
    most = full - _LESS * max(1.0, abs(full))
    bounds = submission.expected_score or (-math.inf, most)
    return replace(submission, expected=belonging.partial, expected_score=bounds)

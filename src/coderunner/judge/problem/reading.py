"""From a path to a problem, whatever it is that lies there."""

from __future__ import annotations

from pathlib import Path

from coderunner.errors import InvalidInput
from coderunner.judge.problem.folder import Folder
from coderunner.judge.problem.icpc import metadata
from coderunner.judge.problem.icpc.package import read_package
from coderunner.judge.problem.model import Problem
from coderunner.judge.problem.one_file import SUFFIXES, read_file
from coderunner.judge.problem.plain import inputs, read_folder
from coderunner.judge.problem.submissions import read_submission
from coderunner.language import Languages

__all__ = ["read_problem", "read_submission"]

_ACCEPTED = (
    "a problem is a directory with problem.yaml and data/ (ICPC's or Kattis's format), a directory "
    "with NAME.in and NAME.ans or NAME.out, or one JSON or YAML file"
)


def read_problem(path: Path, languages: Languages) -> Problem:
    """`InvalidInput` names the file and the key that it does not like."""
    try:
        return _read(path, languages)
    except OSError as error:
        what = error.filename or path
        raise InvalidInput(f"{what}: cannot be read: {error.strerror}", hint=_ACCEPTED) from None


def _read(path: Path, languages: Languages) -> Problem:
    if not path.exists():
        raise InvalidInput(f"there is no problem {str(path)!r}", hint=_ACCEPTED)
    if not path.is_dir():
        if path.suffix.lower() in SUFFIXES:
            return read_file(path, languages)
        raise InvalidInput(f"{str(path)!r} is no problem", hint=_ACCEPTED)
    folder = Folder(path)
    if folder.has_file(folder / metadata.FILE) or folder.has_folder(folder / "data"):
        return read_package(folder, languages)
    if inputs(folder):
        return read_folder(folder, languages)
    raise InvalidInput(f"there is no problem in {str(path)!r}", hint=_ACCEPTED)

"""`coderunner judge`, called as from a shell, and what it said."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.console import Done, coderunner, environment
from tests.cli.packages import CRASH, DOUBLE, DOUBLE_IN_C, SQUARE, package
from tests.support import require_toolchain


def judge(*args: object, **options: str) -> Done:
    return coderunner("judge", *map(str, args), env=environment(**options))


def line_of(done: Done, name: str) -> str:
    """The line that a submission has, with single spaces."""
    lines = done.stdout.decode().splitlines()
    found = [line for line in lines if line.split()[:1] == [name]]
    assert len(found) == 1, done
    return " ".join(found[0].split())


def summary(done: Done) -> str:
    last = done.stdout.decode().splitlines()[-1]
    match = re.fullmatch(r"=+ (.*) in [\d.]+s =+", last)
    assert match, done
    return match[1]


def doubling(folder: Path) -> Path:
    """A package with four submissions, each as it should be."""
    require_toolchain("c")
    return package(
        folder / "double",
        {
            "accepted/a.py": DOUBLE,
            "accepted/b.c": DOUBLE_IN_C,
            "wrong_answer/w.py": SQUARE,
            "run_time_error/r.py": CRASH,
        },
    )

"""Problem packages, written down in a few lines."""

from __future__ import annotations

from pathlib import Path

DOUBLE = "print(2 * int(input()))"
DOUBLE_IN_C = (
    '#include <stdio.h>\nint main(void) { long n; scanf("%ld", &n); printf("%ld\\n", 2 * n); }'
)
SQUARE = "print(int(input()) ** 2)"  # right for 2 alone
CRASH = "import sys; print('oh dear', file=sys.stderr); sys.exit(7)"
LOOP = "while True: pass"
SECRET = "54321"  # in hidden tests, and nowhere else

TESTS = {
    "sample/1": ("2", "4"),
    "secret/1": ("3", "6"),
    "secret/2": (SECRET, "108642"),
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def package(
    folder: Path,
    submissions: dict[str, str],
    *,
    time_limit: str | None = "2",
    more: dict[str, str] | None = None,
    tests: dict[str, tuple[str, str]] | None = None,
) -> Path:
    """A package whose programs are to double a number; `more` are files of any kind."""
    limits = "" if time_limit is None else f"limits: {{time_limit: {time_limit}}}\n"
    files = {
        "problem.yaml": f"problem_format_version: 2023-07\nname: Double\n{limits}",
        **{f"submissions/{name}": code for name, code in submissions.items()},
    }
    for name, (given, answer) in (tests or TESTS).items():
        files |= {f"data/{name}.in": f"{given}\n", f"data/{name}.ans": f"{answer}\n"}
    return write(folder, {**files, **(more or {})})


def plain(folder: Path, tests: dict[str, tuple[str, str]] | None = None) -> Path:
    """Just inputs and answers."""
    files: dict[str, str] = {}
    for name, (given, answer) in (tests or {"1": ("2", "4"), "2": ("3", "6")}).items():
        files |= {f"{name}.in": f"{given}\n", f"{name}.ans": f"{answer}\n"}
    return write(folder, files)

"""Starts the command line as a user does: a process of its own, bytes in and bytes out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

COMMAND = [sys.executable, "-m", "coderunner"]
TIMEOUT_S = 60

Done = subprocess.CompletedProcess[bytes]


def environment(**changes: str) -> dict[str, str]:
    """Ours, without what would change what is printed; and nothing compiled is kept."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CODERUNNER_")}
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS"):
        kept.pop(name, None)
    return {**kept, "TERM": "xterm", "CODERUNNER_COMPILE_CACHE_MB": "0", **changes}


def coderunner(
    *args: str, stdin: bytes = b"", env: dict[str, str] | None = None, cwd: Any = None
) -> Done:
    return subprocess.run(
        [*COMMAND, *args],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=TIMEOUT_S,
        env=env or environment(),
        cwd=cwd,
    )


def start(*args: str, env: dict[str, str] | None = None, **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*COMMAND, *args], env=env or environment(), **options)


def shell(line: str, *args: str) -> Done:
    """A line of bash in which `coderunner` is the command."""
    quoted = " ".join(f"'{part}'" for part in COMMAND)
    script = f'coderunner() {{ {quoted} "$@"; }}\n{line}'
    return subprocess.run(
        ["bash", "-c", script, "bash", *args],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=TIMEOUT_S,
        env=environment(),
    )


def python(code: str, *args: str, **options: Any) -> Done:
    """`coderunner run` of a piece of Python; `args` are ours, not the program's."""
    return coderunner("run", "-l", "python", "-c", code, *args, **options)


def as_json(done: Done) -> Any:
    """The one object that was printed, on one line."""
    assert done.stdout.count(b"\n") == 1, done
    return json.loads(done.stdout)

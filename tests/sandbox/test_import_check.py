"""Whose imports are read where: a parser must not be our caller's trouble."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
import warnings
from typing import Literal

import pytest

from coderunner import Settings
from coderunner.runner import Runner
from coderunner.sandbox import Sandbox
from coderunner.sandbox.import_check import objection
from coderunner.sandbox.import_policy import ImportPolicy

pytestmark = pytest.mark.engines

_ACTIONS: tuple[Literal["always", "error", "default"], ...] = ("always", "error", "default")
ENGINES = pytest.mark.parametrize("engine", ["linux", "process"])


def deep(levels: int) -> str:
    return "x = 0" + " + 1" * levels


@ENGINES
@pytest.mark.parametrize("levels", [1000, 2900, 2985])
def test_depth_hides_nothing(levels: int, engine: str) -> None:
    """So deep that Python still runs it, and too deep to be read further down a stack."""
    result = Sandbox(engine=engine).run(f"import os\n{deep(levels)}\nprint(os.getpid())")
    assert (result.stdout, result.stderr) == ("", "line 1: import of 'os' is blocked\n")


@ENGINES
def test_length_hides_nothing(engine: str) -> None:
    sandbox = Sandbox(engine=engine)
    filling = "# filling\n" * 10_000
    assert sandbox.run(f"print(1)\n{filling}import os").stderr.startswith("line 10002: import of")
    assert sandbox.run(f"{filling}print(1)").stdout == "1\n"


def test_deep_and_long_code_that_is_harmless_runs() -> None:
    assert Sandbox().run(deep(2500) + "\nprint(x)").stdout == "2500\n"
    data = "'" + "x" * 300_000 + "'"
    assert Sandbox().run(f"import math\nprint(len({data}))").stdout == "300000\n"


@pytest.mark.parametrize(
    "code",
    ["(" * 100_000, "-" * 1_000_000 + "1", deep(100_000), "[" * 90 + "]" * 91, "a" + ".b" * 5_000],
    ids=["parentheses", "signs", "sums", "lists", "attributes"],
)
def test_python_says_itself_what_is_too_much_for_it(code: str) -> None:
    result = Sandbox().run(code)
    assert result.exit_code != 0
    assert "blocked" not in result.stderr
    assert "Error" in result.stderr


def test_what_cannot_be_read_is_blocked() -> None:
    result = Sandbox().run("x=1\n" * 2_000_000)
    assert (result.exit_code, result.ended_by) == (1, None)
    assert result.stderr == (
        "import check: the code is too long or nested too deeply to be read: blocked\n"
    )
    assert Sandbox(allowed_imports=["*"]).run("x=1\n" * 100_000).ok


async def test_a_low_ceiling_is_no_error() -> None:
    settings = Settings(ceiling={"memory_mb": 128, "wall_ms": 5_000, "processes": 16})  # type: ignore[arg-type]
    async with Runner.open(settings) as runner:
        python = runner.languages.get("python")
        code = b"import os\n" + b"#" * 20_000
        said = await objection(runner, ImportPolicy(), python, code, ())
    assert said == "line 1: import of 'os' is blocked"


def test_a_caller_with_small_threads_lives() -> None:
    """A server that gives its threads little stack must not fall over what it is given to run."""
    server = """
        import threading
        threading.stack_size(256 << 10)
        from coderunner.sandbox import Sandbox
        print("Error" in Sandbox().run("-" * 15_000 + "1").stderr)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(server)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_warnings_of_the_code_are_not_the_callers() -> None:
    code = "import os\n1if 1 else 2\n'\\d'"
    with warnings.catch_warnings(record=True) as seen:
        for action in _ACTIONS:
            warnings.simplefilter(action)
            assert "'os' is blocked" in Sandbox().run(code).stderr
        warnings.simplefilter("error")
        with pytest.raises(SyntaxError):  # where warnings are errors, it does not parse
            ast.parse(code)
    assert seen == []

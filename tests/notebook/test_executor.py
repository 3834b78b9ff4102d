"""CodeExecutor, in boxes of this machine's best engine."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from coderunner import InvalidLimits, Isolation, Settings
from coderunner.notebook import (
    CodeExecutor,
    ErrorType,
    ExecutionError,
    ExecutionResult,
    ResourceLimits,
)
from tests.support import IS_ROOT

pytestmark = pytest.mark.engines


def error_of(result: ExecutionResult) -> str | None:
    return result.error.type if result.error else None


def test_the_models_are_those_of_the_specification() -> None:
    limits = ResourceLimits()
    assert limits.model_dump() == {
        "timeout_seconds": 30,
        "memory_mb": 512,
        "cpus": 0.5,
        "max_output_bytes": 10 * 1024 * 1024,
    }
    fields = ["success", "exit_code", "stdout", "stderr", "duration_ms", "error"]
    assert list(ExecutionResult.model_fields) == fields
    assert list(ExecutionError.model_fields) == ["type", "message"]
    error = ExecutionError(type="timeout", message="late")
    assert error.type == ErrorType.TIMEOUT


def test_it_runs_code() -> None:
    result = CodeExecutor().execute("print('hello')")
    assert (result.success, result.exit_code, result.stdout, result.stderr) == (
        True,
        0,
        "hello\n",
        "",
    )
    assert result.error is None
    assert isinstance(result.duration_ms, int)
    assert ExecutionResult.model_validate_json(result.model_dump_json()) == result


def test_it_fails() -> None:
    result = CodeExecutor().execute("import sys\nprint('x')\nsys.exit(3)")
    assert (result.success, result.exit_code, result.stdout) == (False, 3, "x\n")
    assert result.error == ExecutionError(
        type="runtime_error", message="Code execution failed with exit code 3."
    )
    raised = CodeExecutor().execute("1/0")
    assert error_of(raised) == "runtime_error"
    assert "ZeroDivisionError" in raised.stderr
    assert "SyntaxError" in CodeExecutor().execute("def").stderr


def test_time_runs_out() -> None:
    code = "print('so far', flush=True)\nwhile True: pass"
    result = CodeExecutor(limits=ResourceLimits(timeout_seconds=1)).execute(code)
    assert (result.success, result.exit_code, result.stdout) == (False, 124, "so far\n")
    assert result.error == ExecutionError(
        type="timeout", message="Execution timed out after 1 seconds."
    )


def test_memory() -> None:
    result = CodeExecutor(limits=ResourceLimits(memory_mb=64)).execute("x = 'a' * (200 << 20)")
    assert (result.success, result.exit_code, error_of(result)) == (False, 137, "oom_killed")


def test_output_is_cut_between_characters() -> None:
    executor = CodeExecutor(limits=ResourceLimits(max_output_bytes=11))
    result = executor.execute("import sys\nprint('é' * 9)\nprint('ß' * 9, file=sys.stderr)")
    assert (result.success, result.stdout, result.stderr) == (True, "é" * 5, "ß" * 5)
    assert error_of(result) == "output_limit"
    assert executor.execute("print('x' * 10)").error is None


def test_flood() -> None:
    executor = CodeExecutor(limits=ResourceLimits(max_output_bytes=1000))
    result = executor.execute("while True: print('x' * 100_000)")
    assert (result.success, result.stdout) == (False, "x" * 1000)
    assert error_of(result) == "output_limit"


def test_an_executor_that_cannot_work() -> None:
    executor = CodeExecutor(settings=Settings(min_isolation=Isolation.VM))
    result = executor.execute("print(1)")
    assert (result.success, result.exit_code, result.stdout) == (False, -1, "")
    assert error_of(result) == "unknown_executor_error"
    assert result.error is not None
    assert result.stderr == result.error.message
    assert "'vm' is asked for" in result.stderr


def test_no_container_of_dockers() -> None:
    result = CodeExecutor(container=object()).execute("print(1)")
    assert (result.exit_code, error_of(result)) == (-1, "unknown_executor_error")


def test_cpus_that_are_asked_for_are_held_or_refused() -> None:
    result = CodeExecutor(limits=ResourceLimits(cpus=1.0)).execute("print(1)")
    if IS_ROOT:
        assert result.stdout == "1\n"
    else:
        assert (result.stdout, result.exit_code) in {("1\n", 0), ("", -1)}


@pytest.mark.parametrize("wrong", [{"timeout_seconds": 0}, {"memory_mb": -1}, {"cpus": 0}])
def test_limits_that_make_no_sense(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidLimits):
        CodeExecutor(limits=ResourceLimits(**wrong))


def test_imports_last_and_nothing_else() -> None:
    executor = CodeExecutor()
    assert executor.execute("import math\nfrom json import (\n  dumps as d)\nx = 1").success
    assert executor.execute("print(d(math.floor(1.5)))").stdout == "1\n"
    assert "NameError" in executor.execute("print(x)").stderr


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("import math\nimport nothing_like_it\nimport json", ["import math", "import json"]),
        ("import math\n1/0", ["import math"]),
        ("import sys\nsys.exit(0)\nimport nothing_like_it", ["import sys"]),
        (
            "import os, math\nos._exit(0)\nimport json",
            [*["import os", "import math"], "import json"],
        ),
        ("import math\nwhile True: pass", ["import math"]),
        ("from math import nothing_like_it, pi\nprint(pi)", ["from math import pi"]),
        ("from __future__ import nothing_like_it", []),
    ],
)
def test_only_imports_that_succeed_are_kept(code: str, kept: list[str]) -> None:
    executor = CodeExecutor(limits=ResourceLimits(timeout_seconds=1))
    executor.execute(code)
    assert [str(line) for line in executor.notebook.imports] == kept


def test_a_traceback_names_the_line_that_its_reader_knows() -> None:
    executor = CodeExecutor()
    executor.execute("import math\nimport json")
    assert 'main.py", line 3, in' in executor.execute("x = 1\n\n1/0").stderr


def test_from_many_threads() -> None:
    executor = CodeExecutor()
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda n: executor.execute(f"print({n})"), range(24)))
    assert [int(result.stdout) for result in results] == list(range(24))


async def test_in_asyncio_code() -> None:
    executor = CodeExecutor()
    results = await asyncio.gather(*(executor.execute_async(f"print({n})") for n in range(4)))
    assert [result.stdout for result in results] == ["0\n", "1\n", "2\n", "3\n"]


async def test_cancelling_ends_the_code() -> None:
    executor = CodeExecutor()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(executor.execute_async("while True: pass"), timeout=0.5)
    assert (await executor.execute_async("print('next')")).stdout == "next\n"


def test_how_it_is_shown() -> None:
    assert repr(CodeExecutor(limits=ResourceLimits(timeout_seconds=1))) == (
        "CodeExecutor(a box, ResourceLimits(timeout_seconds=1, memory_mb=512, cpus=0.5, "
        "max_output_bytes=10485760))"
    )

"""Code in a docker-py container, with a real daemon."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from coderunner.notebook import CodeExecutor, ResourceLimits
from tests.notebook.conftest import NewContainer

pytestmark = [pytest.mark.engines, pytest.mark.as_root]


def processes(container: Any) -> list[str]:
    """All but the container's own."""
    running = [row[-1] for row in container.top(ps_args="-eo pid,args")["Processes"]]
    return [command for command in running if "sleep infinity" not in command]


def nobody_is_left(container: Any) -> bool:
    until = time.monotonic() + 10
    while left := processes(container):
        assert time.monotonic() < until, left
        time.sleep(0.05)
    return True


def test_output_and_exit_code(container: Any) -> None:
    code = "import sys\nprint('hé')\nprint('oops', file=sys.stderr)\nsys.exit(3)"
    result = CodeExecutor(container).execute(code)
    assert (result.stdout, result.stderr, result.exit_code) == ("hé\n", "oops\n", 3)
    assert result.error is not None
    assert result.error.type == "runtime_error"


def test_imports_are_remembered(container: Any) -> None:
    executor = CodeExecutor(container)
    assert not executor.execute("import math\nimport nothing_like_it").success
    assert executor.execute("print(math.pi)").stdout.startswith("3.14")


@pytest.mark.parametrize(
    "code",
    [
        "print('so far')\nwhile True: pass",
        "print('so far')\nimport signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(100)",
        "import os, time\nif os.fork(): print('so far')\nos.setsid\ntime.sleep(100)",
    ],
)
def test_time_runs_out(container: Any, code: str) -> None:
    result = CodeExecutor(container, ResourceLimits(timeout_seconds=1)).execute(code)
    assert (result.success, result.exit_code, result.stdout) == (False, 124, "so far\n")
    assert result.error is not None
    assert result.error.type == "timeout"
    assert result.duration_ms >= 1000
    assert nobody_is_left(container)


def test_what_watches_is_killed(container: Any) -> None:
    """Then it is ended from outside, with all that it has started."""
    code = """
import os, time
os.kill(os.getppid(), 9)
for _ in range(4): os.fork()
os.setsid()
time.sleep(100)
"""
    result = CodeExecutor(container, ResourceLimits(timeout_seconds=1)).execute(code)
    assert not result.success
    assert nobody_is_left(container)
    assert CodeExecutor(container).execute("print(1)").stdout == "1\n"


def test_what_is_left_behind_is_ended(container: Any) -> None:
    code = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(100)"], {})
    os._exit(0)
print("done")
"""
    started = time.monotonic()
    result = CodeExecutor(container).execute(code)
    assert (result.success, result.stdout) == (True, "done\n")
    assert time.monotonic() - started < 30
    assert nobody_is_left(container)


def test_fork_bomb_and_then_something_else(container: Any) -> None:
    executor = CodeExecutor(container, ResourceLimits(timeout_seconds=2))
    code = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    assert executor.execute(code).exit_code == 124
    assert executor.execute("print('next')").stdout == "next\n"
    assert nobody_is_left(container)


def test_no_process_to_be_had(new_container: NewContainer) -> None:
    """That is not the code's fault."""
    container = new_container(pids_limit=3)
    result = CodeExecutor(container).execute("print(1)")
    assert result.exit_code == -1
    assert result.error is not None
    assert result.error.type == "unknown_executor_error"


def test_memory(container: Any) -> None:
    result = CodeExecutor(container).execute("print('x')\nx = 'a' * (400 << 20)")
    assert (result.success, result.exit_code, result.stdout) == (False, 137, "x\n")
    assert result.error is not None
    assert result.error.type == "oom_killed"


def test_output_is_cut_between_characters(container: Any) -> None:
    limits = ResourceLimits(max_output_bytes=11)
    code = "import sys\nprint('é' * 100)\nprint('ß' * 100, file=sys.stderr)"
    result = CodeExecutor(container, limits).execute(code)
    assert (result.success, result.stdout, result.stderr) == (True, "é" * 5, "ß" * 5)
    assert result.error is not None
    assert result.error.type == "output_limit"


def test_flood(container: Any) -> None:
    limits = ResourceLimits(max_output_bytes=1000)
    result = CodeExecutor(container, limits).execute("while True: print('x' * 100_000)")
    assert (result.success, result.stdout) == (False, "x" * 1000)
    assert result.error is not None
    assert result.error.type == "output_limit"
    assert nobody_is_left(container)


def test_long_code(container: Any) -> None:
    """Longer than an argument may be."""
    result = CodeExecutor(container).execute(f"x = '{'x' * 300_000}'\nprint(len(x))")
    assert result.stdout == "300000\n"


def test_stdin_is_empty(container: Any) -> None:
    assert "EOFError" in CodeExecutor(container).execute("input()").stderr


def test_a_container_that_was_stopped(container: Any) -> None:
    executor = CodeExecutor(container)
    container.kill()
    result = executor.execute("print(1)")
    assert (result.success, result.exit_code, result.stdout) == (False, -1, "")
    assert result.error is not None
    assert result.error.type == "unknown_executor_error"
    assert result.stderr == result.error.message
    assert "not running" in result.stderr


def test_a_container_that_is_stopped_meanwhile(container: Any) -> None:
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(CodeExecutor(container).execute, "import time; time.sleep(60)")
        while not processes(container):
            time.sleep(0.05)
        container.kill()
        assert not running.result(timeout=30).success


def test_many_at_once(container: Any) -> None:
    executor = CodeExecutor(container)
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda n: executor.execute(f"print({n})"), range(16)))
    assert [result.stdout for result in results] == [f"{n}\n" for n in range(16)]


async def test_cancelling_ends_the_code(container: Any) -> None:
    executor = CodeExecutor(container)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(executor.execute_async("while True: pass"), timeout=1)
    assert nobody_is_left(container)
    assert (await executor.execute_async("print('next')")).stdout == "next\n"


def test_how_it_is_shown(container: Any) -> None:
    assert f"container {container.name!r}" in repr(CodeExecutor(container))

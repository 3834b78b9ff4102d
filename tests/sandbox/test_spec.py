"""The test cases of the specification's levels 1 to 3, as they are written there."""

from __future__ import annotations

import functools

import pytest

import coderunner.sandbox

# mypy: ignore-errors
# fmt: off

pytestmark = pytest.mark.engines


@pytest.fixture(params=["linux", "process"])
def Sandbox(request):  # noqa: N802 - the specification's name
    return functools.partial(coderunner.sandbox.Sandbox, engine=request.param)


def test_level_1(Sandbox):  # noqa: N803
    sb = Sandbox(timeout=5.0)
    result = sb.run('print("hello")')
    assert result.stdout.strip() == "hello"
    assert result.exit_code == 0
    assert result.timed_out is False

    # Timeout
    result = sb.run('import time; time.sleep(10)')
    assert result.timed_out is True

    # Error
    result = sb.run('raise ValueError("oops")')
    assert result.exit_code != 0
    assert "ValueError" in result.stderr


def test_level_2(Sandbox):  # noqa: N803
    sb = Sandbox(max_memory_mb=50)
    # Memory bomb
    result = sb.run('x = "a" * (100 * 1024 * 1024)')  # 100MB
    assert result.exit_code != 0  # killed by memory limit

    # Blocked import
    sb2 = Sandbox(allowed_imports=["math", "json"])
    result = sb2.run('import os; os.system("rm -rf /")')
    assert result.exit_code != 0
    assert "blocked" in result.stderr.lower() or result.exit_code != 0

    # Output limit
    sb3 = Sandbox(max_output_bytes=100)
    result = sb3.run('print("x" * 10000)')
    assert len(result.stdout) <= 100


def test_level_3(Sandbox):  # noqa: N803
    sb = Sandbox(filesystem={
        "data.csv": "name,age\nAlice,30\nBob,25",
        "config.json": '{"key": "value"}'
    })
    result = sb.run('''
with open("data.csv") as f:
    print(f.read())
''')
    assert "Alice" in result.stdout

    # Path traversal blocked
    with pytest.raises(ValueError, match="etc/passwd"):
        Sandbox(filesystem={"../etc/passwd": "hacked"})

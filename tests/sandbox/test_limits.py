"""Limits that are hit say so in words, on every engine."""

from __future__ import annotations

import pytest

from coderunner import EndedBy, InvalidLimits, Limits
from coderunner.sandbox import Sandbox
from tests.support import require_toolchain

pytestmark = pytest.mark.engines

ENGINES = pytest.mark.parametrize("engine", ["linux", "process"])


@ENGINES
def test_time(engine: str) -> None:
    result = Sandbox(timeout=0.5, engine=engine).run(
        "print('so far', flush=True)\nwhile True: pass"
    )
    assert (result.timed_out, result.exit_code) == (True, 124)
    assert result.stdout == "so far\n"
    assert result.stderr == "time limit of 0.5 s exceeded\n"
    assert result.runtime_ms >= 500


@ENGINES
def test_memory(engine: str) -> None:
    result = Sandbox(max_memory_mb=50, engine=engine).run(
        "kept = []\nwhile True: kept.append(bytearray(1 << 20))"
    )
    assert (result.timed_out, result.exit_code) == (False, 137)
    assert result.stderr.endswith("memory limit of 50 MB exceeded\n")


@ENGINES
@pytest.mark.parametrize("caught", [False, True])
def test_memory_all_at_once(caught: bool, engine: str) -> None:
    """No program gets to make light of it, as it could of a MemoryError."""
    code = 'x = "a" * (100 * 1024 * 1024)'
    if caught:
        code = f"try:\n    {code}\nexcept MemoryError:\n    pass"
    result = Sandbox(max_memory_mb=50, engine=engine).run(code)
    assert (result.exit_code, result.ended_by) == (137, EndedBy.MEMORY)
    assert result.stderr.endswith("memory limit of 50 MB exceeded\n")


@ENGINES
@pytest.mark.parametrize("asked", ["x = bytearray(1 << 45)", "x = [0] * (1 << 50)"])
def test_more_memory_than_any_machine_has(asked: str, engine: str) -> None:
    """Python says so at once, and needs no memory for it."""
    result = Sandbox(max_memory_mb=50, engine=engine).run(asked)
    assert (result.exit_code, result.ended_by) == (137, EndedBy.MEMORY)
    assert result.stderr.endswith("MemoryError\nmemory limit of 50 MB exceeded\n")


@pytest.mark.parametrize(
    "code",
    [
        "try: bytearray(1 << 45)\nexcept MemoryError: raise SystemExit('  no\\nMemoryError!')",
        "print('MemoryError')\nraise ValueError('MemoryError')",
        "-" * 100_000 + "1",
        "class NoMemoryErrors(Exception): pass\nraise NoMemoryErrors",
    ],
    ids=["caught", "named", "parser", "another"],
)
def test_what_is_no_lack_of_memory(code: str) -> None:
    result = Sandbox().run(code)
    assert (result.exit_code, result.ended_by) == (1, EndedBy.EXIT)


def test_an_address_space_that_is_full() -> None:
    sandbox = Sandbox(max_memory_mb=200, limits=Limits(address_space_mb=100))
    result = sandbox.run('x = "a" * (150 << 20)')
    assert (result.exit_code, result.ended_by) == (137, EndedBy.MEMORY)
    assert result.stderr.endswith(
        "memory limit of 200 MB, or of 100 MB of address space, exceeded\n"
    )


@ENGINES
def test_output_is_cut_and_the_program_goes_on(engine: str) -> None:
    code = "print('é' * 1000)\nraise SystemExit(3)"
    result = Sandbox(max_output_bytes=99, engine=engine).run(code)
    assert (result.stdout, result.exit_code, result.truncated) == ("é" * 49, 3, True)
    assert result.stderr == "output truncated at 99 bytes\n"


@ENGINES
def test_stderr_is_cut_too(engine: str) -> None:
    code = "from time import sleep\nimport traceback\nraise ValueError('x' * 1000)"
    result = Sandbox(max_output_bytes=40, engine=engine).run(code)
    said, note = result.stderr.rsplit("\n", 2)[:2]
    assert (len(said), note) == (40, "output truncated at 40 bytes")


def test_output_of_just_the_right_size_is_whole() -> None:
    result = Sandbox(max_output_bytes=100).run("print('x' * 99)")
    assert (len(result.stdout), result.truncated, result.stderr) == (100, False, "")


def test_a_flood_is_ended() -> None:
    result = Sandbox(max_output_bytes=100, timeout=30).run("while True: print('x' * 9999)")
    assert result.ended_by is EndedBy.OUTPUT
    assert result.exit_code == 125
    assert result.stdout == "x" * 100
    assert "ended after 64 MB of output" in result.stderr


def test_processes() -> None:
    require_toolchain("bash")
    sandbox = Sandbox(limits=Limits(processes=8))
    result = sandbox.run("for i in {1..50}; do sleep 5 & done; wait", "bash")
    assert result.ended_by is EndedBy.PROCESSES
    assert "limit of 8 processes exceeded" in result.stderr


def test_a_compiler_has_limits_of_its_own() -> None:
    require_toolchain("cpp")
    endless = 'template<int n> struct A { A<n + 1> a; };\n#include "/dev/zero"\nint main() {}'
    result = Sandbox(timeout=0.2, max_memory_mb=16).run(endless, "cpp")
    assert result.exit_code != 0
    assert "16 MB" not in result.stderr


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout": 0},
        {"timeout": -1.0},
        {"timeout": float("nan")},
        {"timeout": float("inf")},
        {"timeout": "5"},
        {"timeout": 10**400},
        {"timeout": 1e308},
        {"limits": {"cpu_ms": 5}},
        {"limits": 5},
        {"timeout": True},
        {"max_memory_mb": 0},
        {"max_memory_mb": 1.5},
        {"max_memory_mb": None},
        {"max_output_bytes": 0},
        {"max_output_bytes": -5},
        {"max_output_bytes": 1e6},
    ],
    ids=str,
)
def test_limits_that_make_no_sense(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidLimits):
        Sandbox(**wrong)  # type: ignore[arg-type]


def test_a_ceiling_is_an_error_when_something_is_run() -> None:
    with pytest.raises(InvalidLimits, match="ceiling"):
        Sandbox(timeout=1e6).run("print(1)")

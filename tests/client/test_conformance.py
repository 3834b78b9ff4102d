"""What a service answers is what the library says: the whole result, but for times."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import coderunner
from coderunner import (
    AsyncClient,
    Client,
    CodeRunnerError,
    EndedBy,
    File,
    Limits,
    Outcome,
    Program,
    Result,
    Runner,
    Usage,
)
from coderunner.judge import CodeRunner, ExecutionRequest, ExecutionResult, TestCase, View
from coderunner.model import MIB
from tests.server.conftest import Service
from tests.support import require_toolchain

pytestmark = pytest.mark.integration

FILES = r"""
import os
os.mkdir("out")
open("out/text.txt", "w").write("grüße\n")
open("out/bytes.bin", "wb").write(bytes(range(256)))
open("out/empty", "w").close()
open(b"out/\xff\\xff", "w").write("a name that is no text")
os.symlink("/etc/passwd", "out/link")
open("out/tool", "w").write("#!/bin/sh\n")
os.chmod("out/tool", 0o755)
"""
BOTH = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
ALL_BYTES = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 8)"
SHORT = Limits(wall_ms=500)

PROGRAMS: dict[str, tuple[str | bytes, dict[str, Any]]] = {
    "both streams and a code": (BOTH, {}),
    "nothing": ("", {}),
    "input": ("print(input()[::-1])", {"stdin": "stressed\n"}),
    "input that is no text": (
        "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())",
        {"stdin": bytes(range(256))},
    ),
    "output that is no text": (ALL_BYTES, {}),
    "code that is no text": (b"# coding: latin-1\nprint(ascii('\xe9'))", {}),
    "arguments": ("import sys; print(sys.argv[1:])", {"args": ["-x", "", "ü", "two words"]}),
    "files beside it": (
        "import data.more; print(open('data/in.bin', 'rb').read())",
        {"files": {"data/more.py": "", "data/in.bin": b"\xff\0"}},
    ),
    "files left behind": (FILES, {"collect": ["out/**"]}),
    "a head and a tail": (
        "print('é' * 3001, end='.')",
        {"limits": Limits(output_bytes=999)},
    ),
    "a tail that is no text": (ALL_BYTES, {"limits": Limits(output_bytes=33)}),
    "a signal": ("import os; os.kill(os.getpid(), 11)", {}),
    "an exception": ("[][1]", {}),
    "too long": ("while True: pass", {"limits": SHORT}),
    "too much memory": ("x = bytearray(200 << 20)", {"limits": Limits(memory_mb=64)}),
    "too much output": (
        "while True: print('x' * 1000)",
        {"limits": Limits(flood_bytes=MIB, output_bytes=1000)},
    ),
    "half a megabyte": ("print('é\\n' * 200_000)", {}),
}


def but_times(result: Result) -> Result:
    """Whether an interpreter was there already is a matter of time, too."""

    def still(outcome: Outcome | None) -> Outcome | None:
        return outcome and replace(outcome, usage=Usage(0, 0, 0), warm=False)

    return replace(result, compilation=still(result.compilation), execution=still(result.execution))


def ended(result: Result) -> tuple[EndedBy, int | None, bool]:
    return result.outcome.ended_by, result.outcome.exit_code, result.outcome.stdout.dropped > 0


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("live", [False, True])
def test_the_same_result(client: Client, name: str, live: bool) -> None:
    code, how = PROGRAMS[name]
    here = coderunner.run(code, **how)
    there = client.run(code, sink=(lambda stream, data: None) if live else None, **how)
    if name == "too much output":  # how much of it is in time is a matter of time
        assert ended(there) == ended(here)
    else:
        assert but_times(there) == but_times(here)


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("c", '#include <stdio.h>\nint main(void) { puts("hello"); return 4; }'),
        ("c", "int main(void) { return undeclared; }"),
        ("bash", "echo out; echo err >&2; exit 9"),
    ],
)
async def test_programs_of_other_languages(service: Service, language: str, source: str) -> None:
    require_toolchain(language)
    extension = {"c": "c", "bash": "sh"}[language]
    program = Program(language, (File(f"src/main.{extension}", source.encode()),), ("one",))
    async with AsyncClient(service.url) as client, Runner.open() as runner:
        there = await client.run_program(program)
        here = await runner.run(program)
    assert but_times(there) == but_times(here)


async def test_its_environment(service: Service) -> None:
    code = b"import os; print(os.environ['GREETING'])"
    program = Program("python", (File("main.py", code),), env={"GREETING": "grüß dich"})
    async with AsyncClient(service.url) as client, Runner.open() as runner:
        assert but_times(await client.run_program(program)) == but_times(await runner.run(program))


WRONG: dict[str, dict[str, Any]] = {
    "language": {"language": "cobol"},
    "a name that leads out": {"files": {"../x": ""}},
    "two files of one name": {"files": {"main.py": ""}},
    "a NUL in an argument": {"args": ["a\0b"]},
    "args that are one text": {"args": "abc"},
    "stdin that is no text": {"stdin": "\ud800"},
    "stdin that is a number": {"stdin": 5},
    "a pattern that leads out": {"collect": ["../*"]},
}


@pytest.mark.parametrize("name", WRONG)
def test_the_same_errors(client: Client, name: str) -> None:
    assert raised(lambda: client.run("1", **WRONG[name])) == raised(
        lambda: coderunner.run("1", **WRONG[name])
    )


def test_limits_above_the_ceiling_are_invalid_there(client: Client) -> None:
    with pytest.raises(coderunner.InvalidLimits, match=r"wall_ms=3600000 is above .* of 60000"):
        client.run("1", limits=Limits(wall_ms=3_600_000))


def test_what_is_as_usual_is_lowered_and_no_error(serve: Callable[..., Service]) -> None:
    small = serve(prestart=[], ceiling={"memory_mb": 100, "wall_ms": 1000})
    with Client(small.url) as client:
        assert client.run("while True: pass").outcome.ended_by is EndedBy.WALL_TIME


def raised(work: Callable[[], object]) -> tuple[type[CodeRunnerError], str, str]:
    with pytest.raises(CodeRunnerError) as found:
        work()
    return type(found.value), found.value.message, found.value.hint


@pytest.mark.parametrize("view", View)
def test_the_judge_says_the_same(client: Client, view: View) -> None:
    request = ExecutionRequest(
        request_id="7",
        code="n = int(input()); print(n * 2 if n != 3 else n // 0)",
        language="python",
        test_cases=[
            TestCase("good", "2", "4"),
            TestCase("wrong", "5", "11"),
            TestCase("hidden", "3", "6", is_hidden=True),
        ],
    )
    there = client.judge(request, view=view)
    here = CodeRunner().execute_sync(request, view=view)
    assert judged_but_times(there) == judged_but_times(here)


def judged_but_times(result: ExecutionResult) -> ExecutionResult:
    tests = [
        replace(
            one,
            execution_time_ms=0,
            cpu_time_ms=0,
            memory_used_kb=0,
            stderr=re.sub(r'"/.*?"', "", one.stderr),
        )
        for one in result.test_results
    ]
    return replace(result, test_results=tests, total_time_ms=0)


def test_languages(client: Client) -> None:
    found = {language.name: language for language in client.languages()}
    assert set(found) == {
        "bash", "c", "cpp", "go", "java", "javascript", "lua", "perl", "php", "python", "ruby",
        "rust", "typescript",
    }  # fmt: skip
    assert found["python"].available
    assert ".py" in found["python"].extensions

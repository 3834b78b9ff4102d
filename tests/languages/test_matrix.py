"""Every language, every way a run can go, each in a real sandbox."""

from __future__ import annotations

import pytest

from coderunner import EndedBy, Limits, run
from coderunner.language import Languages
from tests.languages.programs import PROGRAMS
from tests.support import require_sandbox, require_toolchain

pytestmark = [pytest.mark.engines, pytest.mark.languages]

LANGUAGES = [language.name for language in Languages()]
COMPILED = [language.name for language in Languages() if language.compile]


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    require_sandbox()
    require_toolchain(request.param)
    return str(request.param)


def test_no_language_is_left_out() -> None:
    assert sorted(PROGRAMS) == LANGUAGES


def test_hello(language: str) -> None:
    known = Languages().get(language)
    result = run(known.hello, language=language)
    assert (result.stderr, result.stdout) == ("", f"Hello from {known.title}\n")
    assert result.ok


def test_echo(language: str) -> None:
    text = "one\ntwo ünïcödé 🎉\n" * 1000
    result = run(PROGRAMS[language].echo, language=language, stdin=text)
    assert result.stdout == text
    assert result.ok


def test_arguments_reach_the_program_as_they_are(language: str) -> None:
    args = ["one two", "--version", "-h", "ü🎉", "*", "$HOME", ""]
    result = run(PROGRAMS[language].args, language=language, args=args)
    assert result.stdout.split("\n")[:-1] == args


def test_utf8_output(language: str) -> None:
    assert run(PROGRAMS[language].unicode, language=language).stdout == "Zoë → 日本 🎉\n"


def test_broken_source(language: str) -> None:
    result = run(PROGRAMS[language].broken, language=language)
    assert not result.ok
    assert result.stderr + result.stdout
    assert (result.execution is None) == (language in COMPILED)


def test_runtime_error(language: str) -> None:
    result = run(PROGRAMS[language].crash, language=language)
    assert result.execution is not None
    assert result.outcome.ended_by in (EndedBy.EXIT, EndedBy.SIGNAL)
    assert result.outcome.exit_code != 0
    assert "boom" in result.stderr


def test_wall_time(language: str) -> None:
    result = run(PROGRAMS[language].loop, language=language, limits=Limits(wall_ms=700))
    assert result.outcome.ended_by is EndedBy.WALL_TIME


def test_cpu_time(language: str) -> None:
    result = run(PROGRAMS[language].loop, language=language, limits=Limits(cpu_ms=500))
    assert result.outcome.ended_by is EndedBy.CPU_TIME


def test_memory(language: str) -> None:
    limits = Limits(memory_mb=128, wall_ms=60_000)
    result = run(PROGRAMS[language].leak, language=language, limits=limits)
    assert result.outcome.ended_by is EndedBy.MEMORY


def test_an_array_larger_than_javas_heap_is_a_memory_breach() -> None:
    require_toolchain("java")
    source = "class A{public static void main(String[] a){int[] x=new int[1<<29];}}"
    assert run(source, language="java").outcome.ended_by is EndedBy.MEMORY


def test_several_files_in_one_program() -> None:
    require_toolchain("c")
    result = run(
        '#include "lib/twice.h"\n#include <stdio.h>\nint main(){printf("%d",twice(21));}',
        language="c",
        files={"lib/twice.h": "int twice(int);", "lib/twice.c": "int twice(int x){return 2*x;}"},
    )
    assert (result.stderr, result.stdout) == ("", "42")


def test_java_across_packages() -> None:
    require_toolchain("java")
    result = run(
        "package app; import lib.Twice;\n"
        "public class Start { public static void main(String[] a) "
        "{ System.out.print(Twice.of(21)); } }",
        language="java",
        files={
            "Any.java": "package lib; public class Twice { public static int of(int x) "
            "{ return 2 * x; } }"
        },
    )
    assert (result.stderr, result.stdout) == ("", "42")


def test_go_with_a_module() -> None:
    require_toolchain("go")
    result = run(
        'package main\nimport ("fmt"; "example.com/x/twice")\nfunc main(){fmt.Print(twice.Of(21))}',
        language="go",
        files={
            "go.mod": "module example.com/x\ngo 1.18\n",
            "twice/twice.go": "package twice\nfunc Of(x int) int { return 2 * x }",
        },
    )
    assert (result.stderr, result.stdout) == ("", "42")


def test_a_go_package_that_is_no_program() -> None:
    require_toolchain("go")
    result = run("package other\nfunc F() {}", language="go")
    assert not result.ok
    assert result.stderr

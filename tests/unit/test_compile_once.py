"""The runner and its cache: what is compiled again, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner import EndedBy, File, Limits, Program, Runner, Settings
from coderunner.engines.fake import FakeEngine, Script
from coderunner.language import Languages
from coderunner.model import Job
from coderunner.workspace import CollectedFile, copy_in

pytestmark = pytest.mark.unit

LANGUAGE = """
name = "comp"
title = "Comp"
extensions = [".comp"]
source = "main.comp"
compile = ["{cc}", "-o", "program", "{sources}"]
artifacts = ["program"]
run = ["./program", "{args}"]
version = ["{cc}"]
hello = "hi"
volatile = "__TIME__"
[tools.cc]
names = ["true"]
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    languages = tmp_path / "languages"
    languages.mkdir()
    (languages / "comp.toml").write_text(LANGUAGE)
    return Settings(languages_dir=languages, cache_dir=tmp_path / "cache", compile_cache_mb=10)


class Machine:
    """An engine that counts compilations; the program it makes differs each time."""

    def __init__(self, settings: Settings, compiler: Script | None = None) -> None:
        self.compilations = 0
        self._compiler = compiler
        self.engine = FakeEngine(self._script)
        self.runner = Runner(self.engine, settings=settings)

    def _script(self, job: Job) -> Script:
        if job.argv[0] == "./program":
            return Script(stdout=self.engine.runs[-1].files["program"])
        self.compilations += 1
        made = CollectedFile("program", b"build %d" % self.compilations, executable=True)
        return self._compiler or Script(stderr=b"a warning\n", files=(made,))


def program(text: bytes = b"x", *args: str, **others: bytes) -> Program:
    more = (File(name, content) for name, content in others.items())
    return Program("comp", (File("main.comp", text), *more), args)


async def test_the_same_program_is_compiled_once(settings: Settings) -> None:
    machine = Machine(settings)
    first = await machine.runner.run(program())
    second = await machine.runner.run(program(b"x", "other", "arguments"))
    assert (first.stdout, second.stdout) == ("build 1", "build 1")
    assert first.compilation is not None
    assert second.compilation is not None
    assert (first.compilation.cached, second.compilation.cached) == (False, True)
    assert second.compilation.stderr == first.compilation.stderr
    assert second.compilation.usage == first.compilation.usage
    assert second.execution is not None
    assert not second.execution.cached
    assert machine.compilations == 1


async def test_another_runner_finds_it(settings: Settings) -> None:
    await Machine(settings).runner.run(program())
    later = Machine(settings)
    assert (await later.runner.run(program())).stdout == "build 1"
    assert later.compilations == 0


async def test_what_was_made_stays_executable(settings: Settings, tmp_path: Path) -> None:
    machine = Machine(settings)
    for number in range(2):
        place = tmp_path / str(number)
        async with machine.runner.build(program()) as build:
            copy_in(build.bundle, place)
        assert (place / "program").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    "other", [program(b"y"), program(b"x", data=b"1")], ids=["content", "one file more"]
)
async def test_another_program_is_compiled(settings: Settings, other: Program) -> None:
    machine = Machine(settings)
    await machine.runner.run(program())
    assert (await machine.runner.run(other)).stdout == "build 2"


async def test_other_compile_limits_compile_again(settings: Settings) -> None:
    machine = Machine(settings)
    await machine.runner.run(program())
    result = await machine.runner.run(program(), compile_limits=Limits(memory_mb=50))
    assert result.stdout == "build 2"


@pytest.mark.parametrize(
    "failure",
    [
        Script(exit_code=1, stderr=b"error"),
        Script(signal=11),
        Script(ended_by=EndedBy.WALL_TIME),
        Script(ended_by=EndedBy.MEMORY),
        Script(ended_by=EndedBy.KILLED),
    ],
    ids=["error", "crash", "time", "memory", "killed"],
)
async def test_a_failure_is_not_kept(settings: Settings, failure: Script) -> None:
    machine = Machine(settings, failure)
    for _ in range(2):
        result = await machine.runner.run(program())
        assert result.compilation is not None
        assert (result.ok, result.compilation.cached) == (False, False)
    assert machine.compilations == 2
    assert not list(settings.cache_dir.glob("compiled/*"))


async def test_what_depends_on_the_time_is_not_kept(settings: Settings) -> None:
    machine = Machine(settings)
    for _ in range(2):
        await machine.runner.run(program(b"x", header=b"\xff __TIME__"))
    assert machine.compilations == 2


async def test_it_can_be_turned_off(settings: Settings) -> None:
    machine = Machine(settings.model_copy(update={"compile_cache_mb": 0}))
    for _ in range(2):
        await machine.runner.run(program())
    assert machine.compilations == 2
    assert not (settings.cache_dir / "compiled").exists()


async def test_a_poisoned_entry_is_not_run(settings: Settings) -> None:
    machine = Machine(settings)
    await machine.runner.run(program())
    (entry,) = settings.cache_dir.glob("compiled/*")
    entry.write_bytes(entry.read_bytes().replace(b"build 1", b"evil 66"))
    assert (await machine.runner.run(program())).stdout == "build 2"
    assert (await machine.runner.run(program())).stdout == "build 2"


async def test_a_program_that_raises_in_mid_build_is_kept_all_the_same(settings: Settings) -> None:
    machine = Machine(settings)
    with pytest.raises(ZeroDivisionError):
        async with machine.runner.build(program()):
            raise ZeroDivisionError
    assert (await machine.runner.run(program())).stdout == "build 1"


def test_the_setting_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODERUNNER_COMPILE_CACHE_MB", "64")
    assert Settings().compile_cache_mb == 64
    monkeypatch.setenv("CODERUNNER_COMPILE_CACHE_MB", "-1")
    with pytest.raises(ValueError, match="COMPILE_CACHE_MB"):
        Settings()


VOLATILE = [
    "puts(__TIME__);",
    "puts(__DATE__ __TIMESTAMP__);",
    "#define D(a,b) a##b\nputs(D(__TI,ME__));",
    "#define D(a,b) a ## b",
    "#define D(a,b) a/**/##/**/b",
    "#define D(a,b) a####b",
    "#define D(a,b) a %:%: b",
    "#define D(a,b) a#\\\n#b",
    "#define D(a,b) a%:\\\n%:b",
    "puts(__TI\\\nME__);",
    "puts(_\\ \r\n_TIME__);",
    "puts(__CONCAT(__TI,ME__));",
    "puts(__PASTE(_, _TIME__));",
    "puts(__PASTE(__, DATE__));",
    "puts(__PASTE(__TIMESTAMP_, _));",
]
STEADY = [
    '#include <stdio.h>\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\nint main(void) { puts("#"); }',
    "#define TWO_LINES(a) \\\n    do { a; } while (0)",
    "#ifndef LIST_H_\n#define LIST_H_\n#define _GNU_SOURCE\n#endif",
    "puts(__FILE__); __LINE__; __COUNTER__; __VA_ARGS__; __cplusplus;",
    "for (int _ = 0; _ < n; ++_) x %= 3, y ? a::b : c;",
]


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_what_the_date_can_change_is_compiled_anew(language: str) -> None:
    volatile = Languages().get(language).volatile
    assert volatile is not None
    assert [text for text in VOLATILE if not volatile.search(text)] == []
    assert [text for text in STEADY if volatile.search(text)] == []

"""The one road, on a scripted engine: what it asks for, and what it makes of the answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coderunner import (
    EndedBy,
    EngineUnavailable,
    File,
    InvalidInput,
    InvalidLimits,
    InvalidProgram,
    Isolation,
    IsolationTooLow,
    Limits,
    Program,
    Runner,
    Settings,
    StartFailed,
    ToolchainMissing,
    UnknownLanguage,
    run,
)
from coderunner.engines import open_engine
from coderunner.engines.base import Control, State
from coderunner.engines.fake import FakeEngine, Script
from coderunner.language import Language
from coderunner.runner import COMPILE_LIMITS
from coderunner.toolchain import Toolchain
from coderunner.workspace import CollectedFile, remove_tree
from coderunner.workspace.root import process_root
from tests.support import require_sandbox

pytestmark = pytest.mark.unit

COMPILED = """
name = "comp"
title = "Comp"
extensions = [".comp"]
source = "main.comp"
compile = ["{cc}", "-o", "program", "{sources}"]
artifacts = ["program"]
run = ["./program", "{args}"]
version = ["{cc}"]
hello = "hi"
env = { HEAP = "{memory_mb}" }
compile_env = { ONLY_COMPILE = "1" }
memory_error = "heap is full"
memory_codes = [1, 134]
[compile_limits]
memory_mb = 333
[tools.cc]
names = ["true"]
"""
SCRIPTED = """
name = "script"
title = "Script"
extensions = [".scr"]
source = "main.scr"
run = ["{sh}", "{main}", "{args}"]
version = ["{sh}", "-c", "echo 1.2.3"]
hello = "hi"
[tools.sh]
names = ["sh"]
"""
MISSING = (
    SCRIPTED.replace("script", "missing")
    .replace(".scr", ".mis")
    .replace('names = ["sh"]', 'names = ["no-such-command"]\napt = "some-package"')
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    languages = tmp_path / "languages"
    languages.mkdir()
    for name, text in {"comp": COMPILED, "script": SCRIPTED, "missing": MISSING}.items():
        (languages / f"{name}.toml").write_text(text)
    return Settings(languages_dir=languages, cache_dir=tmp_path / "cache")


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield
    assert os.listdir(process_root()) == []


PROGRAM = Program("script", (File("main.scr", b"code"), File("data/x.txt", b"\xff\x00")), ("a b",))
TO_COMPILE = Program("comp", (File("main.comp", b"code"), File("other.comp", b"more")))


async def test_an_interpreted_program_is_one_job(settings: Settings) -> None:
    engine = FakeEngine(Script(stdout=b"hi"))
    result = await Runner(engine, settings=settings).run(
        PROGRAM, limits=Limits(wall_ms=5), stdin=b"in"
    )
    [run] = engine.runs
    assert run.job.argv[1:] == ("main.scr", "a b")
    assert os.path.basename(run.job.argv[0]).endswith("sh")
    assert run.files == {"main.scr": b"code", "data/x.txt": b"\xff\x00"}
    assert run.job.limits == Limits(wall_ms=5)
    assert bytes(run.stdin) == b"in"
    assert run.job.env["LANG"] == "C.UTF-8"
    assert (result.stdout, result.compilation, result.ok) == ("hi", None, True)


async def test_a_compiled_program_is_two_jobs(settings: Settings) -> None:
    made = CollectedFile("program", b"ELF", executable=True)
    engine = FakeEngine([Script(stderr=b"warning", files=(made,)), Script(stdout=b"42")])
    result = await Runner(engine, settings=settings).run(TO_COMPILE)
    compiling, running = engine.runs
    assert compiling.job.argv[1:] == ("-o", "program", "main.comp", "other.comp")
    assert compiling.job.limits == COMPILE_LIMITS.but({"memory_mb": 333})
    assert compiling.job.env["ONLY_COMPILE"] == "1"
    assert running.job.argv == ("./program",)
    assert running.files["program"] == b"ELF"
    assert running.job.env["HEAP"] == "256"
    assert "ONLY_COMPILE" not in running.job.env
    assert result.compilation is not None
    assert result.compilation.stderr.text == "warning"
    assert result.stdout == "42"


async def test_what_does_not_compile_does_not_run(settings: Settings) -> None:
    engine = FakeEngine(Script(stderr=b"line 1: no", exit_code=1))
    result = await Runner(engine, settings=settings).run(TO_COMPILE)
    assert len(engine.runs) == 1
    assert result.execution is None
    assert (result.ok, result.stderr) == (False, "line 1: no")


async def test_one_build_runs_many_times(settings: Settings) -> None:
    engine = FakeEngine(Script())
    async with Runner(engine, settings=settings).build(TO_COMPILE) as build:
        assert build.ok
        for number in range(3):
            await build.run(stdin=str(number).encode())
    assert [bytes(run.stdin) for run in engine.runs] == [b"", b"0", b"1", b"2"]


@pytest.mark.parametrize("ended_by", EndedBy)
async def test_every_end_is_passed_on_as_it_is(settings: Settings, ended_by: EndedBy) -> None:
    number = 6 if ended_by is EndedBy.SIGNAL else None
    engine = FakeEngine(Script(ended_by=ended_by, signal=number), isolation=Isolation.SAMPLED)
    outcome = (await Runner(engine, settings=settings).run(PROGRAM)).outcome
    assert outcome.ended_by is ended_by
    assert (outcome.isolation, outcome.engine) == (Isolation.SAMPLED, "fake")


@pytest.mark.parametrize(
    ("script", "ended_by"),
    [
        (Script(stderr=b"the heap is full!", exit_code=1), EndedBy.MEMORY),
        (Script(stderr=b"the heap is full!", signal=6), EndedBy.MEMORY),
        (Script(stderr=b"the heap is full!", exit_code=0), EndedBy.EXIT),
        (Script(stderr=b"something else", exit_code=1), EndedBy.EXIT),
        (Script(stderr=b"the heap is full!", exit_code=134), EndedBy.MEMORY),
        (Script(stderr=b"the heap is full!", exit_code=2), EndedBy.EXIT),
        (Script(stderr=b"the heap is full!", signal=11), EndedBy.SIGNAL),
        *(
            (Script(stderr=b"the heap is full!", ended_by=other), other)
            for other in EndedBy
            if other not in (EndedBy.EXIT, EndedBy.SIGNAL)
        ),
    ],
)
async def test_a_runtime_that_holds_the_memory_limit_itself(
    settings: Settings, script: Script, ended_by: EndedBy
) -> None:
    engine = FakeEngine([Script(), script])
    assert (await Runner(engine, settings=settings).run(TO_COMPILE)).outcome.ended_by is ended_by


async def test_an_engine_that_fails_raises(settings: Settings) -> None:
    for script in (
        Script(start_error=EngineUnavailable("gone")),
        Script(wait_error=EngineUnavailable("gone")),
    ):
        with pytest.raises(EngineUnavailable, match="gone"):
            await Runner(FakeEngine(script), settings=settings).run(PROGRAM)


async def test_a_missing_interpreter_raises_but_a_bad_artifact_is_an_outcome(
    settings: Settings,
) -> None:
    refused = Script(start_error=StartFailed("cannot start './program': permission denied"))
    with pytest.raises(StartFailed):
        await Runner(FakeEngine(refused), settings=settings).run(PROGRAM)
    result = await Runner(FakeEngine([Script(), refused]), settings=settings).run(TO_COMPILE)
    assert (result.outcome.ended_by, result.outcome.exit_code) == (EndedBy.EXIT, 126)
    assert "permission denied" in result.stderr


BAD_PROGRAMS = [
    (Program("script", ()), InvalidProgram),
    (Program("nosuch", (File("main.scr", b""),)), UnknownLanguage),
    (Program("missing", (File("main.mis", b""),)), ToolchainMissing),
    (Program("script", (File("a.scr", b""),), ("a\0b",)), InvalidProgram),
    *(
        (Program("script", (File(name, b""),)), InvalidProgram)
        for name in ("", "/etc/passwd", "../x", "a/../b", "a\0b", "a/", ".", "a//b")
    ),
    (Program("script", (File("a", b""), File("a", b""))), InvalidProgram),
    (Program("script", (File("a", b""), File("a/b", b""))), InvalidProgram),
]


@pytest.mark.parametrize(("program", "error"), BAD_PROGRAMS, ids=lambda value: repr(value)[:60])
async def test_bad_input_never_reaches_the_engine(
    settings: Settings, program: Program, error: type[Exception]
) -> None:
    engine = FakeEngine(Script())
    with pytest.raises(error) as caught:
        await Runner(engine, settings=settings).run(program)
    assert engine.runs == []
    assert str(caught.value)


async def test_limits_above_the_ceiling(settings: Settings) -> None:
    engine = FakeEngine(Script())
    runner = Runner(engine, settings=settings)
    too_much = Limits(wall_ms=settings.ceiling.wall_ms + 1)
    with pytest.raises(InvalidLimits, match="ceiling"):
        await runner.run(PROGRAM, limits=too_much)
    with pytest.raises(InvalidLimits, match="ceiling"):
        await runner.run(TO_COMPILE, compile_limits=too_much)
    assert engine.runs == []


async def test_a_missing_toolchain_says_how_to_get_it(settings: Settings) -> None:
    program = Program("missing", (File("main.mis", b""),))
    with pytest.raises(ToolchainMissing) as caught:
        await Runner(FakeEngine(), settings=settings).run(program)
    assert "apt-get install some-package" in caught.value.hint


async def test_an_empty_source_is_a_program_like_any_other(settings: Settings) -> None:
    engine = FakeEngine(Script())
    await Runner(engine, settings=settings).run(Program("script", (File("main.scr", b""),)))
    assert engine.runs[0].files == {"main.scr": b""}


async def test_refuse_dont_degrade(settings: Settings) -> None:
    controls = (
        Control("seccomp filter", State.ENFORCED),
        Control("memory", State.ABSENT, "no cgroup", "run as root"),
    )
    engine = FakeEngine(Script(), isolation=Isolation.NONE, controls=controls)
    with pytest.raises(IsolationTooLow, match="memory is absent") as caught:
        await Runner(engine, settings=settings).run(PROGRAM)
    assert "run as root" in caught.value.hint
    assert "--isolation none" in caught.value.hint
    assert engine.runs == []
    lowered = settings.model_copy(update={"min_isolation": Isolation.NONE})
    assert (await Runner(engine, settings=lowered).run(PROGRAM)).outcome.isolation == "none"


async def test_sampled_is_not_full(settings: Settings) -> None:
    controls = (Control("memory", State.SAMPLED, "no cgroup", "run as root"),)
    extra = Control("landlock", State.ABSENT, extra=True)  # decides about no level
    engine = FakeEngine(Script(), isolation=Isolation.SAMPLED, controls=(extra, *controls))
    strict = settings.model_copy(update={"min_isolation": Isolation.FULL})
    assert (await Runner(engine, settings=settings).run(PROGRAM)).ok
    with pytest.raises(IsolationTooLow, match="memory is sampled"):
        await Runner(engine, settings=strict).run(PROGRAM)


async def test_files_are_brought_back_when_asked_for(settings: Settings) -> None:
    left = (File("out.txt", b"result"), File("other.bin", b""))
    engine = FakeEngine(Script(files=left))
    result = await Runner(engine, settings=settings).run(PROGRAM, collect=["*.txt"])
    assert [(file.name, file.content) for file in result.files] == [("out.txt", b"result")]
    assert engine.jobs[0].collect
    assert not (await Runner(engine, settings=settings).run(PROGRAM)).files


async def test_a_runner_closes_its_engine() -> None:
    engine = FakeEngine()
    async with Runner(engine):
        pass
    assert engine.closed


@pytest.mark.parametrize("used", [True, False])
async def test_a_closed_runner_runs_nothing_and_says_so(settings: Settings, used: bool) -> None:
    engine = FakeEngine(Script())
    async with Runner(engine, settings=settings) as runner, runner.build(PROGRAM) as build:
        if used:
            await build.run()
    started = len(engine.jobs)
    uses = (runner.run(PROGRAM), build.run(), runner.prepare("script"), runner.warm_up("script"))
    for use in uses:
        with pytest.raises(InvalidInput, match="is closed") as caught:
            await use
        assert "another Runner" in caught.value.hint
    assert len(engine.jobs) == started
    await runner.aclose()


async def test_a_runner_that_is_closed_while_it_is_asked_starts_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = FakeEngine(Script())
    runner = Runner(engine, settings=settings)
    find = runner.toolchains.find

    async def slow(language: Language) -> Toolchain:
        await runner.aclose()
        return await find(language)

    monkeypatch.setattr(runner.toolchains, "find", slow)
    with pytest.raises(InvalidInput, match="is closed"):
        await runner.run(PROGRAM)
    assert engine.jobs == []


@pytest.mark.parametrize("engine", [None, "linux", "process"])
def test_a_runner_lives_in_one_event_loop(settings: Settings, engine: str | None) -> None:
    if engine == "linux":
        require_sandbox()
    anywhere = settings.model_copy(update={"min_isolation": Isolation.NONE})
    before = len(os.listdir("/proc/self/fd"))
    runner = Runner(open_engine(engine) if engine else FakeEngine(), settings=anywhere)
    assert asyncio.run(runner.run(PROGRAM)).outcome.ended_by is EndedBy.EXIT
    for use in (runner.run(PROGRAM), runner.prepare("script"), runner.warm_up("script")):
        with pytest.raises(InvalidInput, match="another event loop") as caught:
            asyncio.run(use)
        assert "a Runner in each event loop" in caught.value.hint
    asyncio.run(runner.aclose())
    assert len(os.listdir("/proc/self/fd")) <= before


async def test_a_runner_is_not_closed_from_another_event_loop(settings: Settings) -> None:
    async with Runner(FakeEngine(Script()), settings=settings) as runner:
        await runner.run(PROGRAM)
        with pytest.raises(InvalidInput, match="another event loop"):
            await asyncio.to_thread(asyncio.run, runner.aclose())
        assert (await runner.run(PROGRAM)).ok


def test_an_unknown_engine() -> None:
    with pytest.raises(InvalidInput, match="linus") as caught:
        open_engine("linus")
    assert "linux" in caught.value.hint


@pytest.mark.parametrize("args", ["abc", [1], None, ("\ud800",)])
async def test_arguments_that_are_no_list_of_text(settings: Settings, args: object) -> None:
    program = Program("script", (File("main.scr", b""),), args)  # type: ignore[arg-type]
    with pytest.raises(InvalidProgram, match="arg"):
        await Runner(FakeEngine(), settings=settings).run(program)


async def test_nothing_is_left_when_a_runner_closes(settings: Settings) -> None:
    before = len(os.listdir("/proc/self/fd"))
    root = process_root()
    async with Runner(FakeEngine(Script()), settings=settings) as runner:
        await runner.run(PROGRAM)
    assert not root.exists()
    assert len(os.listdir("/proc/self/fd")) <= before


async def test_a_cache_that_cannot_be_used(settings: Settings, tmp_path: Path) -> None:
    text = SCRIPTED.replace("script", "prep").replace(".scr", ".prp").replace("{args}", "{thing}")
    text += '[prepare.thing]\ntarget = "/prepared/thing"\nargv = ["{sh}"]\n'
    (tmp_path / "languages/prep.toml").write_text(text)
    lost = settings.model_copy(update={"cache_dir": Path("/proc/no/such")})
    engine = FakeEngine(Script(files=(File("prepared/x", b"1"),)))
    async with Runner(engine, settings=lost) as runner:
        await runner.run(Program("prep", (File("main.prp", b""),)))
        assert engine.jobs[-1].mounts[-1].source.is_dir()
    remove_tree(process_root() / "prepared")


def test_a_language_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"languages_dir: .* is not a directory"):
        Runner(FakeEngine(), settings=Settings(languages_dir=tmp_path / "nope"))


@pytest.mark.parametrize(
    "call",
    [
        lambda: run("print('\ud800')"),
        lambda: run("1", stdin="\ud800"),
        lambda: run("1", stdin=5),  # type: ignore[arg-type]
        lambda: run("1", language=None),  # type: ignore[arg-type]
        lambda: run("1", files={"a": "\ud800"}),
    ],
)
def test_nonsense_is_told_in_our_own_words(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidInput):
        call()

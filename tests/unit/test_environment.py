"""Variables of a program: what it finds, what its compiler does not find, what cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coderunner import File, InvalidProgram, Program, Runner, Settings
from coderunner.engines.fake import FakeEngine, Script

pytestmark = pytest.mark.unit

PROGRAM = Program("c", (File("main.c", b"int main(void) { return 0; }"),))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(cache_dir=tmp_path, toolchains={"cc": "/bin/true"}, prepare=False)


async def test_a_program_has_variables_and_its_compiler_has_not(settings: Settings) -> None:
    engine = FakeEngine([Script(), Script()])
    program = replace(PROGRAM, env={"GREETING": "hi", "PATH": "/mine"})
    await Runner(engine, settings=settings).run(program)
    compiling, running = engine.jobs
    assert (running.env["GREETING"], running.env["PATH"]) == ("hi", "/mine")
    assert "GREETING" not in compiling.env


@pytest.mark.parametrize(
    "env",
    [{"": "a"}, {"a=b": "c"}, {"a\0": "b"}, {"a": "b\0"}, {"a": "b" * 2**17}, {"a": 1}, "a=b"],
)
async def test_variables_that_cannot_be(settings: Settings, env: Any) -> None:
    with pytest.raises(InvalidProgram):
        await Runner(FakeEngine(), settings=settings).run(replace(PROGRAM, env=env))

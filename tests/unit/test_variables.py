"""Variables of a program's environment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coderunner import InvalidProgram, Runner, Settings
from coderunner.engines.fake import FakeEngine, Script
from tests.unit.test_runner import PROGRAM, TO_COMPILE, settings

__all__ = ["settings"]  # the fixture
pytestmark = pytest.mark.unit


async def test_a_program_has_variables_and_its_compiler_has_not(settings: Settings) -> None:
    engine = FakeEngine([Script(), Script()])
    program = replace(TO_COMPILE, env={"GREETING": "hi", "PATH": "/mine"})
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

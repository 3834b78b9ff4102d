"""Where hostile programs are let loose: one engine, and a look around after every run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from coderunner import Runner
from coderunner.engines.base import Capabilities, State
from coderunner.execution import Stdin
from coderunner.model import File, Isolation, Limits, Program, Result
from tests.hostile.attack import AT_SAMPLED, IN_CONTAINERS, ON_GVISOR
from tests.hostile.surroundings import processes_with, token, unharmed
from tests.properties.effort import LONG

T = TypeVar("T")
# A hang must fail the test, not stop the suite. No program here may take half as long.
_PATIENCE_S = 120


class Arena:
    def __init__(self, runner: Runner, capabilities: Capabilities) -> None:
        self.runner = runner
        self.level = capabilities.isolation
        meters = {one.name: one.state for one in capabilities.controls}
        self.sampled = meters["memory"] is State.SAMPLED
        self.in_containers = runner.engine.name == "docker"
        self.on_gvisor = self.in_containers and self.level is Isolation.VM

    @property
    def where(self) -> list[str]:
        """What an attack may find to be different here, the most particular first."""
        facts = {
            ON_GVISOR: self.on_gvisor,
            IN_CONTAINERS: self.in_containers,
            AT_SAMPLED: self.sampled,
        }
        return [place for place, is_so in facts.items() if is_so]

    async def run(
        self,
        program: Program,
        *,
        limits: Limits | None = None,
        compile_limits: Limits | None = None,
        stdin: Stdin = None,
        collect: Iterable[str] = (),
    ) -> Result:
        """Run a hostile program, then see that the world is as it was and the next run works."""
        limits = limits or Limits()
        word = token()
        marked = replace(program, args=(*program.args, word))  # it may ignore it
        await self.runner.isolation()  # starts the engine, so that only the run's own traces count
        if not self.in_containers:
            await self.check_alive()
        with unharmed():
            running = self.runner.run(
                marked,
                limits=limits,
                compile_limits=compile_limits,
                stdin=stdin,
                collect=collect,
            )
            result = await asyncio.wait_for(running, _PATIENCE_S)
            assert processes_with(word) == []
        _check_kept(result, limits)
        if LONG or not self.in_containers:  # the next container has nothing of this one
            await self.check_alive()
        return result

    def some(self, values: Sequence[T]) -> Sequence[T]:
        """All of them, or where each takes long and a long run was not asked for, a tenth."""
        return values if LONG or not self.in_containers else values[::10]

    async def text(self, source: str, language: str = "python", **limits: float) -> Result:
        """The same for a program that is given as a text."""
        suffix = {"python": "py", "bash": "sh", "cpp": "cpp", "c": "c"}[language]
        files = (File(f"main.{suffix}", source.encode()),)
        return await self.run(Program(language, files), limits=Limits().but(limits))

    async def check_alive(self) -> None:
        hello = Program("bash", (File("main.sh", b"cat; echo alive"),))
        result = await self.runner.run(hello, stdin=b"still ")
        assert (result.ok, result.stdout) == (True, "still alive\n"), result.stderr


def _check_kept(result: Result, limits: Limits) -> None:
    for outcome in filter(None, (result.compilation, result.execution)):
        assert outcome.isolation.at_least(Isolation.SAMPLED)
    if result.execution is not None:
        assert len(result.execution.stdout.data) <= limits.output_bytes
        assert len(result.execution.stderr.data) <= limits.output_bytes

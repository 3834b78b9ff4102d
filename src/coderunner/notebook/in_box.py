"""Code in a box of this machine's best engine."""

from __future__ import annotations

from typing import Protocol

from coderunner.background import background
from coderunner.engines.base import Engine, State
from coderunner.model import File, Limits, Program
from coderunner.notebook.conclusion import Facts, facts_of
from coderunner.notebook.model import ResourceLimits
from coderunner.settings import Settings
from coderunner.text import as_bytes

_PYTHON = "python"


class Place(Protocol):
    """Where code is run."""

    async def run(self, code: str, limits: ResourceLimits) -> Facts:
        """In the background's loop."""


class Box:
    """A new one for each piece of code."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings

    def __repr__(self) -> str:
        return "a box"

    async def run(self, code: str, limits: ResourceLimits) -> Facts:
        runner = await background().runner(self._settings)
        source = File(runner.languages.get(_PYTHON).source, as_bytes(code, "the code"))
        wanted = await _limits(limits, runner.engine)
        return facts_of(await runner.run(Program(_PYTHON, (source,)), limits=wanted))


async def _limits(given: ResourceLimits, engine: Engine) -> Limits:
    """`cpus` has a default that not every machine can hold: only who asks for it is refused. A cut
    output is a head, and `Limits` keep a head and a tail of the same size."""
    most = given.max_output_bytes
    usual = Limits()
    return Limits(
        wall_ms=given.timeout_seconds * 1000,
        memory_mb=given.memory_mb,
        output_bytes=2 * most,
        flood_bytes=max(usual.flood_bytes, most),
        cpus=given.cpus if "cpus" in given.model_fields_set or await _throttles(engine) else None,
    )


async def _throttles(engine: Engine) -> bool:
    controls = (await engine.capabilities()).controls
    return any(c.name == "cpus" and c.state is State.ENFORCED for c in controls)

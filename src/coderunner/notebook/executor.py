"""CodeExecutor: code goes in, a structured result comes out, whatever happens."""

from __future__ import annotations

import time
from typing import Any

from coderunner.background import background
from coderunner.model import Limits
from coderunner.notebook.conclusion import Facts, concluded, failed
from coderunner.notebook.import_lines import ImportLine, imports_of, leading, parsed
from coderunner.notebook.imports import Notebook
from coderunner.notebook.in_box import Box, Place
from coderunner.notebook.in_container import InContainer
from coderunner.notebook.model import ExecutionResult, ResourceLimits
from coderunner.settings import Settings

_LONGEST_TRIAL_S = 10


class CodeExecutor:
    """Executes code in a box of its own, or in a container of yours. Its `notebook` remembers the
    imports that succeeded. It may be used from many threads."""

    def __init__(
        self,
        container: Any = None,
        limits: ResourceLimits | None = None,
        *,
        settings: Settings | None = None,
    ) -> None:
        """`container`: one of docker-py's. `settings` are for boxes; None: the environment's."""
        self.limits = limits or ResourceLimits()
        _check(self.limits)
        self.notebook = Notebook()
        self._place: Place = Box(settings) if container is None else InContainer(container)

    def __repr__(self) -> str:
        return f"CodeExecutor({self._place!r}, {self.limits!r})"

    def execute(self, code: str) -> ExecutionResult:
        """Run the code with the imports of the code before it. What fails is told in the result,
        an executor that cannot work as well."""
        return background().call(self._execute(code))

    async def execute_async(self, code: str) -> ExecutionResult:
        """The same for asyncio code. Cancelling it ends the program."""
        return await background().hand_over(self._execute(code))

    async def _execute(self, code: str) -> ExecutionResult:
        started = time.monotonic()
        try:
            whole = self.notebook.get_code_with_imports(code)
            facts = await self._place.run(whole, self.limits)
            self.notebook.add(await self._imports_that_succeeded(code, facts))
        except Exception as error:
            return failed(error, _ms_since(started))
        return concluded(facts, self.limits, _ms_since(started))

    async def _imports_that_succeeded(self, code: str, facts: Facts) -> list[ImportLine]:
        """Those that code begins with, if it did not fail. Of the others nobody can be certain, so
        they are tried: it may have ended before it came to them."""
        tree = parsed(code)
        if tree is None:
            return []
        every = imports_of(tree.body)
        certain = imports_of(leading(tree)) if facts.exit_code == 0 else []
        known = {*certain, *self.notebook.imports}
        unsure = [line for line in every if line not in known]
        if not unsure:
            return [line for line in every if line in known]
        tried = await self._place.run(_trial_of(unsure), _for_a_trial(self.limits))
        known |= _those_that_work(unsure, tried)
        return [line for line in every if line in known]


def _trial_of(lines: list[ImportLine]) -> str:
    """A program that tries them, and prints the numbers of those that work."""
    return f"""
for number, line in enumerate({list(map(str, lines))!r}):
    try:
        exec(line, {{}})
    except BaseException:
        pass
    else:
        print("\\nworks:", number, flush=True)
"""


def _those_that_work(lines: list[ImportLine], tried: Facts) -> set[ImportLine]:
    printed = tried.stdout.text.splitlines()
    return {line for i, line in enumerate(lines) if f"works: {i}" in printed}


def _for_a_trial(limits: ResourceLimits) -> ResourceLimits:
    seconds = min(limits.timeout_seconds, _LONGEST_TRIAL_S)
    return limits.model_copy(update={"timeout_seconds": seconds})


def _check(limits: ResourceLimits) -> None:
    """Raise InvalidLimits for what nobody could hold."""
    Limits(
        wall_ms=limits.timeout_seconds * 1000,
        memory_mb=limits.memory_mb,
        cpus=limits.cpus,
        output_bytes=limits.max_output_bytes,
    )


def _ms_since(started: float) -> int:
    return int((time.monotonic() - started) * 1000)

"""The compile step, in a judge's words."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from coderunner.build import Build
from coderunner.judge.verdict import shortened
from coderunner.model import EndedBy, Limits, Outcome, Program
from coderunner.runner import Runner

_LONGEST_OUTPUT = 16_000


@dataclass(slots=True)
class CompilationResult:
    """Result of compilation."""

    success: bool
    output: str
    error: str | None
    time_ms: int | None = None  # None: there was nothing to compile


class Compiler:
    """Compiles code for compiled languages; others are ready as they are."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner

    @asynccontextmanager
    async def compile(
        self, program: Program, *, limits: Limits | None = None
    ) -> AsyncIterator[tuple[Build, CompilationResult]]:
        """The program made ready, for as long as the `async with` lasts, and what the compiler
        said. Without `limits`, the language's own."""
        async with self.runner.build(program, compile_limits=limits) as build:
            yield build, of_outcome(build.compilation)


def of_outcome(outcome: Outcome | None) -> CompilationResult:
    if outcome is None:
        return CompilationResult(True, "", None)
    said = (outcome.stdout.text, outcome.stderr.text)
    output = shortened(
        "\n".join(part.strip("\n") for part in said if part.strip()), _LONGEST_OUTPUT
    )
    error = None if outcome.ok else _why(outcome, output)
    return CompilationResult(outcome.ok, output, error, math.ceil(outcome.usage.wall_ms))


def _why(outcome: Outcome, output: str) -> str:
    limits = {
        EndedBy.WALL_TIME: "Compilation timed out",
        EndedBy.CPU_TIME: "Compilation timed out",
        EndedBy.MEMORY: "Compilation ran out of memory",
        EndedBy.OUTPUT: "The compiler printed too much",
        EndedBy.PROCESSES: "The compiler started too many processes",
    }
    return limits.get(outcome.ended_by) or output or "Compilation failed"

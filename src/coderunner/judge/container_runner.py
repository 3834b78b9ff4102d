"""ContainerRunner: one command in one container, by the names of the judge's specification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coderunner import exit_codes
from coderunner.background import background
from coderunner.errors import InvalidProgram
from coderunner.execution import execute
from coderunner.judge.on_docker import docker_runner
from coderunner.model import EndedBy, Job, Limits, Outcome
from coderunner.text import as_bytes

_PROCESSES = 64
_ENDED = -1  # the exit code of what did not come to its own end
_NOTES = {
    EndedBy.WALL_TIME: "Execution timed out",
    EndedBy.CPU_TIME: "Execution timed out",
    EndedBy.MEMORY: "Memory limit exceeded",
    EndedBy.PROCESSES: "Process limit exceeded",
    EndedBy.OUTPUT: "Output limit exceeded",
}


@dataclass
class ContainerResult:
    """What came of it. Of one that was ended, what it had printed until then."""

    exit_code: int
    stdout: str
    stderr: str
    execution_time_ms: int
    memory_used_kb: int
    timed_out: bool
    memory_exceeded: bool


class ContainerRunner:
    """Runs commands in fresh, isolated Docker containers. `docker_client` is docker-py's."""

    def __init__(
        self, docker_client: Any, default_memory_mb: int = 256, default_cpu: float = 1.0
    ) -> None:
        self.client = docker_client
        self.default_memory_mb = default_memory_mb
        self.default_cpu = default_cpu

    async def run(
        self,
        image: str,
        command: Sequence[str],
        workspace: Path,
        stdin_data: str,
        timeout_ms: int,
        memory_limit_mb: int | None = None,
        cpu_limit: float | None = None,
    ) -> ContainerResult:
        """Run a command. It sees a copy of `workspace`, which is its directory and goes with it."""
        job = Job(
            argv=_words(command),
            workspace=_directory(workspace),
            limits=Limits(
                wall_ms=timeout_ms,
                memory_mb=memory_limit_mb or self.default_memory_mb,
                cpus=cpu_limit or self.default_cpu,
                processes=_PROCESSES,
            ),
            image=image,
        )
        stdin = as_bytes(stdin_data, "stdin_data")
        return _result(await background().hand_over(self._run(job, stdin)))

    async def _run(self, job: Job, stdin: bytes) -> Outcome:
        runner = await docker_runner(self.client)
        return await execute(runner.engine, job, stdin=stdin)


def _words(command: Sequence[str]) -> tuple[str, ...]:
    """A string would be taken for a list of letters."""
    if isinstance(command, str) or not command:
        raise InvalidProgram(
            f"the command {command!r:.80} is no list of words",
            hint='as in ["python3", "solution.py"]',
        )
    return tuple(command)


def _directory(workspace: Path) -> Path:
    """The command would find nothing in one that is not there, and nobody would know why."""
    if not Path(workspace).is_dir():
        raise InvalidProgram(f"the workspace {str(workspace)!r:.80} is no directory")
    return Path(workspace)


def _result(outcome: Outcome) -> ContainerResult:
    note = _NOTES.get(outcome.ended_by, "")
    stderr = outcome.stderr.text
    return ContainerResult(
        exit_code=_ENDED if note else exit_codes.of_run(outcome),
        stdout=outcome.stdout.text,
        stderr="\n".join(part for part in (stderr.rstrip("\n"), note) if part) if note else stderr,
        execution_time_ms=round(outcome.usage.wall_ms),
        memory_used_kb=outcome.usage.memory_peak_kb,
        timed_out=outcome.ended_by in (EndedBy.WALL_TIME, EndedBy.CPU_TIME),
        memory_exceeded=outcome.ended_by is EndedBy.MEMORY,
    )

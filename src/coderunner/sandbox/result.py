"""What a sandbox says of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coderunner.model import EndedBy, Isolation


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """What came of a run. Limits that were hit are told in words at the end of `stderr`, too."""

    stdout: str
    stderr: str
    exit_code: int  # 124: took too long, 137: too much memory, 128 + N: ended by signal N
    timed_out: bool
    runtime_ms: float  # on the clock
    truncated: bool = False  # there was more output than `max_output_bytes`
    ended_by: EndedBy | None = None  # None: it was not run, an import is blocked
    cpu_ms: float = 0.0
    memory_peak_kb: int = 0
    files: Mapping[str, bytes] = field(default_factory=dict)  # what was asked for with `collect`
    isolation: Isolation | None = None  # what it ran behind; None if it did not run

    @property
    def ok(self) -> bool:
        return self.exit_code == 0 and self.ended_by is EndedBy.EXIT

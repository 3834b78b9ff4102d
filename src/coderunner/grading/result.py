"""What a test run comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class TestResult:
    """How many tests passed, and what became of each.

    A detail has `name`, `status` (`passed`, `failed`, `error` or `skipped`), `message`, `line` (in
    the tests), `time_ms` and `output` (what was printed meanwhile).
    """

    __test__ = False  # it is not one of pytest's

    passed: int
    failed: int
    errors: int
    details: list[dict[str, Any]] = field(default_factory=list)
    total_runtime_ms: float = 0.0

    @property
    def ok(self) -> bool:
        """All passed, and there was something to pass."""
        return self.passed > 0 and not self.failed and not self.errors

"""A run's clock starts before its program can."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace
from typing import Any

import pytest

from coderunner.engines.linux.boxes.run import Run
from coderunner.model import Limits

pytestmark = pytest.mark.unit


class QuickBox:
    """Its program has written its files and ended before anybody looks again."""

    cgroup = None
    zygote = None
    ended_at = 0.0
    kb = 3

    def fill(self, workspace: int) -> None: ...

    def assign(self, job: object, stdio: list[int]) -> None:
        self.ended_at = time.monotonic()
        self.kb += 100

    def files_kb(self) -> int:
        return self.kb


def test_a_program_that_is_over_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "_job", lambda self: SimpleNamespace())
    limits: dict[str, Any] = {name: getattr(Limits(), name) for name in ("wall_ms", "cpu_ms")}
    run = Run({"id": 1, "limits": limits}, [os.dup(0) for _ in range(4)])
    box: Any = QuickBox()
    run.box = box
    run.begin()
    assert run._since < box.ended_at
    assert run._files_before_kb == 3

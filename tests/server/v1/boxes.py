"""Whether a run is still there, as this machine sees it."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from tests.server.conftest import Service

_PATIENCE_S = 30.0


@dataclass(frozen=True)
class Box:
    mark: str

    def is_there(self) -> bool:
        return any(self.mark.encode() in _command(process) for process in _processes())

    def wait_until_there(self) -> None:
        self._wait(True)

    def wait_until_gone(self) -> None:
        self._wait(False)

    def _wait(self, there: bool) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while self.is_there() is not there:
            assert time.monotonic() < deadline, "not there" if there else "still there"
            time.sleep(0.02)


def box_of(name: str) -> tuple[str, Box]:
    """A program that stays, says so, and has a child that can be told from all others."""
    mark = f"{name}-{uuid.uuid4()}"
    code = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "{mark}"])
print("running", flush=True)
child.wait()
"""
    return code, Box(mark)


def runs_of(service: Service) -> float:
    """How many have ended so far."""
    lines = service.client.get("/metrics").text.splitlines()
    return sum(
        float(line.split()[-1]) for line in lines if line.startswith("coderunner_runs_total")
    )


def wait_for_runs(service: Service, count: float) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while runs_of(service) < count:
        assert time.monotonic() < deadline, "the run does not end"
        time.sleep(0.02)


def _processes() -> list[Path]:
    return [path for path in Path("/proc").iterdir() if path.name.isdigit()]


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""

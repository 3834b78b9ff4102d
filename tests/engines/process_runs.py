"""Short ways to run things on the process engine."""

from __future__ import annotations

import sys
from pathlib import Path

from coderunner.capture import communicate
from coderunner.engines.process import ProcessEngine
from coderunner.model import Exit, Job, Limits, Mount, Output
from coderunner.workspace import Workspace

PYTHON = sys.executable
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


class Run:
    """`await run(argv)`; `await run.python(source)`."""

    def __init__(self, engine: ProcessEngine, workspace: Workspace) -> None:
        self.engine = engine
        self.workspace = workspace

    async def __call__(
        self,
        *argv: str,
        limits: Limits | None = None,
        stdin: bytes = b"",
        env: dict[str, str] | None = None,
        mounts: tuple[Mount, ...] = (),
    ) -> tuple[Exit, Output, Output]:
        limits = limits or Limits(wall_ms=20_000)
        job = Job(argv, self.workspace.path, ENV | (env or {}), mounts=mounts, limits=limits)
        process = await self.engine.start(job)
        try:
            return await communicate(process, stdin=stdin, limits=limits)
        finally:
            await process.close()

    async def python(self, source: str, **kwargs: object) -> tuple[Exit, Output, Output]:
        return await self(PYTHON, "-I", "-c", source, **kwargs)  # type: ignore[arg-type]

    async def shell(self, source: str, **kwargs: object) -> tuple[Exit, Output, Output]:
        return await self("/bin/sh", "-c", source, **kwargs)  # type: ignore[arg-type]


def is_alive(pid: int) -> bool:
    """A zombie that pid 1 has not got round to is dead enough."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"

"""A workbench: one engine, one workspace, and short ways to run things on them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from coderunner.engines.base import Engine
from coderunner.execution import Stdin, execute
from coderunner.model import Job, Limits, Mount, Outcome
from coderunner.workspace import Workspace

ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
PYTHON = os.path.realpath(sys.executable)
# The interpreter that runs the tests, where it is not in /usr, which every box sees anyway.
PYTHON_MOUNTS = (
    () if PYTHON.startswith("/usr/") else (Mount(Path(sys.base_prefix), sys.base_prefix),)
)


class Bench:
    """`image`: whether its jobs see an image's files, and not this machine's."""

    def __init__(self, engine: Engine, workspace: Workspace, *, image: bool = False) -> None:
        self.engine = engine
        self.workspace = workspace
        self._python = "/usr/bin/python3" if image else PYTHON
        self._mounts = () if image else PYTHON_MOUNTS

    def job(self, *argv: str, **limits: float) -> Job:
        chosen = Limits(wall_ms=20_000).but(limits)
        return Job(argv, self.workspace.path, ENV, self._mounts, chosen)

    async def run(self, *argv: str, stdin: Stdin = None, **limits: float) -> Outcome:
        return await execute(self.engine, self.job(*argv, **limits), stdin=stdin)

    async def sh(self, script: str, *, stdin: Stdin = None, **limits: float) -> Outcome:
        return await self.run("/bin/sh", "-c", script, stdin=stdin, **limits)

    async def python(self, source: str, *, stdin: Stdin = None, **limits: float) -> Outcome:
        return await self.run(self._python, "-I", "-S", "-c", source, stdin=stdin, **limits)

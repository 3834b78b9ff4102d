"""What all rows share: engines, runners, toolchains and a directory."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

from bench import bare, bubblewrap
from bench.measure import Once
from coderunner.engines import open_engine
from coderunner.engines.base import Engine
from coderunner.errors import ToolchainMissing
from coderunner.execution import execute
from coderunner.language import Languages
from coderunner.model import Isolation, Job, Outcome
from coderunner.runner import Runner
from coderunner.settings import Settings
from coderunner.toolchain import Toolchain, Toolchains

BARE, BUBBLEWRAP, PROCESS, LINUX = "bare", "bubblewrap", "process", "linux"
ENGINES = (PROCESS, LINUX)


class Missing(Exception):
    """A contender or a whole row cannot be had on this machine; `fix` is the way to get it."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(reason)
        self.fix = fix


Contenders = Mapping[str, Once | Missing]


class Lab:
    """Use it with `async with`: when that ends, nothing of the bench is left."""

    def __init__(self) -> None:
        self.languages = Languages()
        self._toolchains = Toolchains()
        self._engines: dict[str, Engine] = {}
        self._runners: dict[str, Runner] = {}
        self._stack = AsyncExitStack()
        self._folder = Path()

    async def __aenter__(self) -> Self:
        folder = tempfile.TemporaryDirectory(prefix="coderunner-bench-")
        self._folder = Path(self._stack.enter_context(folder))
        for name in ENGINES:
            engine = self._engines[name] = open_engine(name)
            self._stack.push_async_callback(engine.aclose)
            settings = Settings(
                engine=name, min_isolation=Isolation.NONE, cache_dir=self._folder / "cache"
            )
            self._runners[name] = Runner(engine, settings=settings)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._stack.aclose()

    def runner(self, engine: str) -> Runner:
        return self._runners[engine]

    def folder(self, files: Mapping[str, str]) -> Path:
        """A new directory with these files."""
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    async def toolchain(self, language: str) -> Toolchain:
        try:
            return await self._toolchains.find(self.languages.get(language))
        except ToolchainMissing as error:
            raise Missing(error.message, error.hint) from error

    def contenders(self, job: Job, bare_argv: Sequence[str], prints: bytes) -> Contenders:
        """Everybody who can run one prepared job, with what it must print."""
        return {
            BARE: self._command(bare_argv, job, prints),
            BUBBLEWRAP: self._bubblewrap(job, prints),
            **{name: self._job(self._engines[name], job, prints) for name in ENGINES},
        }

    def _bubblewrap(self, job: Job, prints: bytes) -> Once | Missing:
        bwrap = shutil.which("bwrap")
        if bwrap is None:
            return Missing("there is no bwrap", "apt-get install bubblewrap")
        return self._command(bubblewrap.command(bwrap, job), job, prints)

    def _command(self, argv: Sequence[str], job: Job, prints: bytes) -> Once:
        async def once() -> None:
            check_printed(bare.run(argv, job.env), prints)

        return once

    def _job(self, engine: Engine, job: Job, prints: bytes) -> Once:
        async def once() -> None:
            check_outcome(await execute(engine, job), prints)

        return once


def check_printed(printed: bytes, expected: bytes) -> None:
    if printed != expected:
        raise bare.RunFailed(f"printed {printed[:100]!r}, expected {expected[:100]!r}")


def check_outcome(outcome: Outcome, expected: bytes) -> None:
    if not outcome.ok:
        words = outcome.stderr.text.strip()[-300:]
        raise bare.RunFailed(f"ended by {outcome.ended_by.value}, {outcome.exit_code}: {words}")
    check_printed(outcome.stdout.data, expected)

"""What all rows share: engines, runners, toolchains, other sandboxes and a directory."""

from __future__ import annotations

import functools
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any, Self, TypeVar

from bench import bare, sandboxes
from bench.docker import Docker
from bench.hand import check_printed
from bench.measure import Once
from bench.results import (
    BARE,
    BUBBLEWRAP,
    COLD,
    DOCKER_EXEC,
    DOCKER_RUN,
    ISOLATE,
    LINUX,
    NSJAIL,
    PROCESS,
)
from bench.sandboxes import Missing, Sandbox
from coderunner.engines import open_engine
from coderunner.errors import ToolchainMissing
from coderunner.language import Languages
from coderunner.model import Isolation, Outcome
from coderunner.runner import Runner
from coderunner.settings import Settings, user_cache_dir
from coderunner.toolchain import Toolchain, Toolchains

Contenders = Mapping[str, Once | Missing]
T = TypeVar("T")

_NO_NUMPY = Missing(
    "no Python here has numpy", ".venv/bin/pip install numpy, or apt-get install python3-numpy"
)


class Lab:
    """Use it with `async with`: when that ends, nothing of the bench is left."""

    def __init__(self) -> None:
        self.languages = Languages()
        self.stack = AsyncExitStack()
        self._runners: dict[str, Runner] = {}
        self._folder = Path()

    async def __aenter__(self) -> Self:
        folder = tempfile.TemporaryDirectory(prefix="coderunner-bench-")
        self._folder = Path(self.stack.enter_context(folder))
        for name, engine, warm in ((PROCESS, PROCESS, False), (LINUX, LINUX, True)):
            self._runners[name] = self.new_runner(engine=engine, warm=warm)
        self._runners[COLD] = self.new_runner(engine=LINUX, warm=False)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.stack.aclose()

    def new_runner(self, **settings: Any) -> Runner:
        """A runner with an engine of its own, until the end of the bench. What is made once stays
        for the next bench, apart from what is kept of the user's own programs."""
        chosen = Settings(
            min_isolation=Isolation.NONE, cache_dir=user_cache_dir() / "bench", **settings
        )
        runner = Runner(open_engine(chosen.engine), settings=chosen)
        self.stack.push_async_callback(runner.aclose)
        return runner

    def runner(self, name: str) -> Runner:
        return self._runners[name]

    async def make_ready(self, language: str, *names: str) -> None:
        """What a language is faster with is made before the measurement."""
        for name in names:
            prepare = getattr(self._runners[name], "prepare", None)
            if prepare is not None:
                await prepare(language)

    async def enter(self, context: AbstractAsyncContextManager[T]) -> T:
        return await self.stack.enter_async_context(context)

    @functools.cached_property
    def threads(self) -> ThreadPoolExecutor:
        return self.stack.enter_context(ThreadPoolExecutor(64))

    def folder(self, files: Mapping[str, str] | None = None) -> Path:
        """A new directory with these files. Everybody may read it: some sandboxes have users of
        their own."""
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        for path in (self._folder, folder):
            path.chmod(0o755)
        for name, text in (files or {}).items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    async def toolchain(self, language: str, chosen: Mapping[str, str] | None = None) -> Toolchain:
        try:
            return await Toolchains(chosen).find(self.languages.get(language))
        except ToolchainMissing as error:
            raise Missing(error.message, error.hint) from error

    async def numpy_python(self) -> str:
        """The first interpreter that has numpy; the one that everybody finds comes first."""
        usual = (await self.toolchain("python")).tools["python"]
        for python in dict.fromkeys((usual, sys.executable, "/usr/bin/python3")):
            try:
                bare.run([python, "-c", "import numpy"])  # without a home, as in a box
            except (bare.RunFailed, OSError):
                continue
            return python
        raise _NO_NUMPY

    def compiling_sandboxes(self) -> dict[str, Sandbox | Missing]:
        """Those that can be given a directory to write to."""
        return {BARE: sandboxes.bare, BUBBLEWRAP: _found(sandboxes.bubblewrap, "bwrap", _BWRAP)}

    def running_sandboxes(self) -> dict[str, Sandbox | Missing]:
        """Everybody who can run a program that lies ready."""
        docker = self._docker
        return {
            **self.compiling_sandboxes(),
            NSJAIL: _found(sandboxes.nsjail, "nsjail", "build it from github.com/google/nsjail"),
            ISOLATE: _found(sandboxes.isolate, "isolate", "build it from github.com/ioi/isolate"),
            DOCKER_EXEC: self._docker_exec if isinstance(docker, Docker) else docker,
            DOCKER_RUN: docker.run if isinstance(docker, Docker) else docker,
        }

    @functools.cached_property
    def _docker(self) -> Docker | Missing:
        try:
            return Docker()
        except Missing as missing:
            return missing

    def _docker_exec(self, inside: sandboxes.Inside) -> sandboxes.Commands:
        assert isinstance(self._docker, Docker)
        return self._docker.exec(inside, self.stack.callback)


_BWRAP = "apt-get install bubblewrap"


def _found(
    sandbox: Callable[[str, sandboxes.Inside], sandboxes.Commands], name: str, fix: str
) -> Sandbox | Missing:
    try:
        return functools.partial(sandbox, sandboxes.find(name, fix))
    except Missing as missing:
        return missing


def check_outcome(outcome: Outcome, expected: bytes) -> bool:
    """True if it ran in a warm interpreter; raises if it did not do what it should."""
    if not outcome.ok:
        words = outcome.stderr.text.strip()[-300:]
        raise bare.RunFailed(f"ended by {outcome.ended_by.value}, {outcome.exit_code}: {words}")
    check_printed(outcome.stdout.data, expected)
    return outcome.warm


def argv_of(command: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """A command's words with the tools in their place; `{folder}` is left for later."""
    words = list(command)
    for name, value in values.items():
        words = [word.replace(f"{{{name}}}", value) for word in words]
    return words

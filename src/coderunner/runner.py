"""The one road: write the files, compile once, run, collect.

    Program ─▶ layout ─▶ workspace ─▶ compile ─▶ run ─▶ Result
               (names)   (a copy)     (a Job)    (a Job, as often as wanted)

Every front door drives here. Compiling and running are the same thing to an engine: a job with
limits, behind the same walls. What was compiled before is not compiled again (`compile_cache`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Self

from coderunner.build import Build, bundle_of
from coderunner.cancelling import in_thread, outlast
from coderunner.capture import Sink
from coderunner.compile_cache import CompileCache, Compiled, compile_key
from coderunner.engines import open_engine
from coderunner.engines.base import Capabilities, Engine, State
from coderunner.entry import Layout, lay_out
from coderunner.errors import (
    IsolationTooLow,
)
from coderunner.execution import Started, Stdin, execute_and
from coderunner.home import Home
from coderunner.language import Language
from coderunner.model import (
    MIB,
    WORKSPACE,
    Directory,
    File,
    Isolation,
    Job,
    Limits,
    Outcome,
    Program,
    Result,
)
from coderunner.notices import Notice, ignore
from coderunner.placeholders import Value, file_values
from coderunner.preparations import Preparations
from coderunner.recipe import Recipe, check_args, check_env
from coderunner.settings import Settings
from coderunner.toolchain import Toolchain, Toolchains
from coderunner.workspace import Collection, check_names, collect
from coderunner.workspace.root import release_root

COMPILE_LIMITS = Limits(
    wall_ms=30_000,
    memory_mb=1024,
    processes=128,
    disk_mb=256,
    files=20_000,
    open_files=4096,
)
_OWN_KERNEL = "use an engine with a kernel of its own (docker with the runtime runsc)"
_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
_BASE_ENV = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "USER": "runner", "LOGNAME": "runner"}


class Runner:
    """Runs programs on one engine. Use it as an async context manager, or call `aclose`. It lives
    in the event loop that first uses it, and runs nothing once it is closed."""

    def __init__(
        self,
        engine: Engine,
        *,
        settings: Settings | None = None,
        notice: Notice = ignore,
    ) -> None:
        self.settings = settings or Settings()
        self.engine = engine
        self.languages = self.settings.languages()
        engine.announce(notice)
        chosen = self.settings.toolchains
        self.toolchains = engine.toolchains(chosen) or Toolchains(chosen)
        kept = self.settings.cache_dir
        self._preparations = Preparations(
            engine, kept / "prepared", notice, meanwhile=self.settings.prepare
        )
        self._compiled = CompileCache(kept / "compiled", self.settings.compile_cache_mb * MIB)
        self._isolation: Isolation | None = None
        self._home = Home()

    @classmethod
    def open(cls, settings: Settings | None = None, *, notice: Notice = ignore) -> Self:
        """A runner on the engine that the settings name."""
        settings = settings or Settings()
        return cls(open_engine(settings.engine, settings), settings=settings, notice=notice)

    async def aclose(self) -> None:
        lost = self._home.is_lost
        if not lost:
            self._home.leave()
        async with AsyncExitStack() as stack:  # all of it, whatever happens to one of them
            stack.callback(release_root)
            stack.push_async_callback(self.engine.aclose)
            if not lost:
                stack.push_async_callback(self._preparations.aclose)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def prepare(self, language: str) -> None:
        """Make ready, now, all that a language is quicker with. Nobody has to ask for it: what a
        language needs is made when it is first used, the rest in the background."""
        self._home.enter()
        known = self.languages.get(language)
        toolchain = await self.toolchains.find(known)
        await self.isolation()
        await self._preparations.make_all(known, toolchain, _environment(toolchain))

    async def run(
        self,
        program: Program,
        *,
        limits: Limits | None = None,
        stdin: Stdin = None,
        sink: Sink | None = None,
        compile_limits: Limits | None = None,
        collect: Iterable[str] = (),
    ) -> Result:
        """Compile and run a program once. `collect` names the files (globs) to bring back."""
        limits = limits or Limits()
        limits.check_below(self.settings.ceiling)
        async with self.build(program, compile_limits=compile_limits) as build:
            if not build.ok:
                return Result(build.compilation, None)
            return await build.run(limits=limits, stdin=stdin, sink=sink, collect=collect)

    async def warm_up(
        self, language: str, *, limits: Limits | None = None, directory: Directory = WORKSPACE
    ) -> bool:
        """Start an interpreter, or a container, for programs of this language ahead of the first
        one, and wait until it is ready. False if the engine has no such thing for them."""
        async with self._example(language, limits, directory) as job:
            return await self.engine.warm_up(job)

    async def is_warm(
        self, language: str, *, limits: Limits | None = None, directory: Directory = WORKSPACE
    ) -> bool:
        """Whether there is one, and it is alive: also if it was not we who ended it."""
        async with self._example(language, limits, directory) as job:
            return await self.engine.is_warm(job)

    async def cool_down(
        self, language: str, *, limits: Limits | None = None, directory: Directory = WORKSPACE
    ) -> None:
        """End it, if nothing runs in it. The next program starts cold."""
        async with self._example(language, limits, directory) as job:
            await self.engine.cool_down(job)

    @asynccontextmanager
    async def _example(
        self, language: str, limits: Limits | None, directory: Directory
    ) -> AsyncIterator[Job]:
        """A job as a program of this language would be, but for the program."""
        found = self.languages.get(language)
        recipe = await self._recipe(lay_out(found, (File(found.source, b""),)), ())
        with bundle_of(()) as nothing:
            self._home.enter()  # it may have been closed meanwhile
            job = recipe.run_job(limits or Limits(), nothing, self.preload)
            yield replace(job, directory=directory)

    @property
    def preload(self) -> tuple[str, ...] | None:
        """What warm interpreters are to have loaded; None if there are to be none."""
        return tuple(self.settings.preload) if self.settings.warm else None

    @asynccontextmanager
    async def build(
        self,
        program: Program,
        *,
        compile_limits: Limits | None = None,
        language: Language | None = None,
    ) -> AsyncIterator[Build]:
        """A program made ready to run as often as wanted. Look at `ok` first: it may not have
        compiled. `language` describes the program's, if the registry does not have it."""
        check_names(program.files)
        check_args(program.args)
        check_env(program.env)
        if compile_limits is not None:
            compile_limits.check_below(self.settings.ceiling)
        layout = lay_out(language or self.languages.get(program.language), program.files)
        recipe = replace(await self._recipe(layout, program.args), own_env=dict(program.env))
        compiled, new_key = await self._compile(recipe, compile_limits)
        made = compiled.files if compiled else ()
        files = tuple({file.name: file for file in (*layout.files, *made)}.values())
        async with self._keep(new_key, compiled):
            with bundle_of(files) as bundle:
                yield Build(self, recipe, files, bundle, compiled.outcome if compiled else None)

    async def _recipe(self, layout: Layout, args: Sequence[str]) -> Recipe:
        self._home.enter()
        language = layout.language
        toolchain = await self.toolchains.find(language)
        await self.isolation()
        env = _environment(toolchain)
        prepared = await self._preparations.ready(language, toolchain, env)
        values: dict[str, Value] = {
            **language.scripts,
            **toolchain.tools,
            **file_values(layout.main, layout.sources, layout.class_name),
            "args": tuple(args),
        }
        return Recipe(layout, toolchain, env, values, prepared)

    async def _compile(self, recipe: Recipe, limits: Limits | None) -> tuple[Compiled | None, str]:
        """The compilation, if there is one to do; and the key to keep it under, if it is new."""
        language = recipe.layout.language
        if not language.compile:
            return None, ""
        limits = limits or compile_limits_of(language)
        key = self._key(recipe, limits)
        kept = await in_thread(lambda: self._compiled.get(key)) if key else None
        if kept is not None:
            return kept, ""
        with bundle_of(recipe.layout.files) as bundle:
            job = recipe.compile_job(limits, bundle)
            outcome, made = await self.execute(job, language.artifacts)
        return Compiled(outcome, made.files), key if outcome.ok else ""

    @asynccontextmanager
    async def _keep(self, key: str, compiled: Compiled | None) -> AsyncIterator[None]:
        """Keep a compilation while the program runs: it need not wait for that."""
        if not key or compiled is None:
            yield
            return
        loop = asyncio.get_running_loop()
        keeping = loop.run_in_executor(None, self._compiled.put, key, compiled)
        try:
            yield
        finally:
            await outlast(keeping)
        keeping.result()

    def _key(self, recipe: Recipe, limits: Limits) -> str:
        """What this compilation is kept under; empty if it is not to be kept."""
        language, files = recipe.layout.language, recipe.layout.files
        if not self._compiled.enabled or _is_volatile(language, files):
            return ""
        assert self._isolation is not None, "a recipe is only made once it is known"
        return compile_key(
            recipe.compile_job(limits, Path()),
            files,
            language.artifacts,
            recipe.toolchain,
            engine=self.engine.name,
            isolation=self._isolation,
        )

    async def execute(
        self,
        job: Job,
        wanted: Iterable[str],
        *,
        stdin: Stdin = None,
        sink: Sink | None = None,
        most_bytes: int | None = None,
        started: Started | None = None,
    ) -> tuple[Outcome, Collection]:
        """Run one job and bring back the files it was asked for: all that fit on its disk, or no
        more than `most_bytes`."""
        self._home.enter()
        take = _collector(tuple(wanted), job.limits, most_bytes)
        job = replace(job, collect=take is not None)
        outcome, found = await execute_and(
            self.engine, job, take, stdin=stdin, sink=sink, started=started
        )
        return outcome, found or Collection(())

    async def isolation(self) -> Isolation:
        """What keeps programs in, here. Refuse, don't degrade: `IsolationTooLow` if that is less
        than was asked for. Looked at once per runner, since an engine does not change."""
        self._home.enter()  # it may have been closed meanwhile
        if self._isolation is None:
            least = self.settings.min_isolation
            offered = await self.engine.capabilities()
            if not offered.isolation.at_least(least):
                raise _too_low(self.engine.name, offered, least)
            self._isolation = offered.isolation
        return self._isolation


def compile_limits_of(language: Language) -> Limits:
    """What compiling may use unless the caller says otherwise."""
    return COMPILE_LIMITS.but(language.compile_limits)


def _too_low(engine: str, offered: Capabilities, least: Isolation) -> IsolationTooLow:
    """Names the first control that is missing, and its fix."""
    level = offered.isolation.value
    message = f"the {engine} engine offers isolation {level!r} here, {least.value!r} is asked for"
    lower = f"lower the bar on purpose: --isolation {level}, min_isolation={level!r}"
    enough = {State.ENFORCED} if least.at_least(Isolation.FULL) else {State.ENFORCED, State.SAMPLED}
    missing = (c for c in offered.controls if c.state not in enough and not c.extra)
    lacking = next(missing, None)
    if lacking is None:
        return IsolationTooLow(message, hint=f"{_OWN_KERNEL}; or {lower}")
    why = f" ({lacking.reason})" if lacking.reason else ""
    return IsolationTooLow(
        f"{message}: {lacking.name} is {lacking.state.value}{why}",
        hint=f"{lacking.fix}; or {lower}" if lacking.fix else lower,
    )


def _environment(toolchain: Toolchain) -> dict[str, str]:
    return {**_BASE_ENV, "PATH": ":".join(dict.fromkeys((*toolchain.path, *_SYSTEM_PATH)))}


def _is_volatile(language: Language, files: Iterable[File]) -> bool:
    """Whether compiling these again would make something else, as `__TIME__` does in C."""
    sign = language.volatile
    return sign is not None and any(sign.search(f.content.decode("latin-1")) for f in files)


def _collector(
    patterns: tuple[str, ...], limits: Limits, most_bytes: int | None
) -> Callable[[int], Collection] | None:
    if not patterns:
        return None
    disk = limits.disk_mb * MIB
    most = disk if most_bytes is None else min(disk, most_bytes)
    return lambda fd: collect(fd, patterns, max_files=limits.files, max_bytes=most)

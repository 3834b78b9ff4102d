"""A program made ready, to be run as often as wanted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coderunner.capture import Sink
from coderunner.errors import StartFailed, faults_of_the_machine
from coderunner.execution import Started, Stdin
from coderunner.language import Language
from coderunner.model import (
    WORKSPACE,
    Directory,
    EndedBy,
    File,
    Limits,
    Outcome,
    Output,
    Result,
    Terminal,
    Usage,
)
from coderunner.recipe import Recipe, check_args
from coderunner.workspace import Bundle

if TYPE_CHECKING:
    from coderunner.runner import Runner

_NOT_EXECUTABLE = 126  # what a shell says of a file it cannot execute


@dataclass(frozen=True)
class Build:
    """A program in its workspace, compiled if its language is. Lives as long as the `async with`
    that made it."""

    runner: Runner
    recipe: Recipe
    files: tuple[File, ...]  # its own and what the compiler made of them
    bundle: Bundle  # the same, ready to be copied
    compilation: Outcome | None

    @property
    def ok(self) -> bool:
        return self.compilation is None or self.compilation.ok

    async def run(
        self,
        *,
        limits: Limits | None = None,
        stdin: Stdin = None,
        sink: Sink | None = None,
        collect: Iterable[str] = (),
        args: Sequence[str] | None = None,
        files: Iterable[File] = (),
        collect_bytes: int | None = None,
        terminal: Terminal | None = None,
        directory: Directory = WORKSPACE,
        started: Started | None = None,
    ) -> Result:
        """Run it once, in a fresh sandbox, on a fresh copy of its files. `files` are added to
        them, `args` take the place of the program's, both for this run alone. What `collect`
        brings back is at most `collect_bytes` long, or what fits on the program's disk. With a
        `terminal` it runs in one; its files may be in another `directory`. `started` gets hold of
        the process, to send it signals."""
        limits = limits or Limits()
        limits.check_below(self.runner.settings.ceiling)
        language = self.recipe.layout.language
        recipe = self._recipe(args)
        with self._with(files) as bundle:
            job = recipe.run_job(limits, bundle, self.runner.preload)
            job = replace(job, terminal=terminal, directory=directory)
            try:
                outcome, made = await self.runner.execute(
                    job,
                    collect,
                    stdin=stdin,
                    sink=sink,
                    most_bytes=collect_bytes,
                    started=started,
                )
            except StartFailed as error:
                if not job.argv[0].startswith("./"):
                    raise  # an interpreter that is not there is nothing the program did
                return Result(self.compilation, await self._not_executable(error))
        said = outcome.stderr.text if terminal is None else _lines(outcome.stdout.text)
        execution = _out_of_memory(language, outcome, said)
        return Result(self.compilation, execution, made.files, made.skipped)

    def _recipe(self, args: Sequence[str] | None) -> Recipe:
        if args is None:
            return self.recipe
        check_args(args)
        return replace(self.recipe, values={**self.recipe.values, "args": tuple(args)})

    @contextlib.contextmanager
    def _with(self, files: Iterable[File]) -> Iterator[Bundle]:
        added = tuple(files)
        if not added:
            yield self.bundle
            return
        with bundle_of((*self.files, *added)) as bundle:
            yield bundle

    async def _not_executable(self, error: StartFailed) -> Outcome:
        """The compiler made a file that cannot be executed, as Go does of a package that is not
        `main`. That is the program's doing, so it is an outcome."""
        return Outcome(
            ended_by=EndedBy.EXIT,
            exit_code=_NOT_EXECUTABLE,
            signal=None,
            usage=Usage(0.0, 0.0, 0),
            stdout=Output(),
            stderr=Output(f"{error.message}\n".encode()),
            isolation=(await self.runner.engine.capabilities()).isolation,
            engine=self.runner.engine.name,
        )


def bundle_of(files: Iterable[File]) -> Bundle:
    with faults_of_the_machine():
        return Bundle(files)


def _lines(shown: str) -> str:
    """What a program wrote, as its terminal shows it: errors too, and each line ends with two."""
    return shown.replace("\r\n", "\n")


def _out_of_memory(language: Language, outcome: Outcome, said: str) -> Outcome:
    """Some runtimes hold the memory limit themselves, because we hand it to them (`-Xmx`). When
    such a one gives up, the limit was the reason, as it is when the kernel steps in."""
    sign = language.memory_error
    if sign is not None and _gave_up(language, outcome) and sign.search(said) is not None:
        return replace(outcome, ended_by=EndedBy.MEMORY)
    return outcome


def _gave_up(language: Language, outcome: Outcome) -> bool:
    """Whether it ended by itself as its runtime does then. Anybody can print what that says."""
    if outcome.ok or outcome.ended_by not in (EndedBy.EXIT, EndedBy.SIGNAL):
        return False
    code = outcome.exit_code if outcome.signal is None else 128 + outcome.signal
    return not language.memory_codes or code in language.memory_codes

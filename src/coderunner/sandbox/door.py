"""Sandbox: limits that are set once, and code that is run within them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Self

from coderunner import exit_codes
from coderunner.background import background
from coderunner.engines import AUTO, check_name
from coderunner.errors import InvalidInput, InvalidLimits
from coderunner.model import EndedBy, File, Isolation, Limits, Output, Program, Result
from coderunner.runner import Runner, compile_limits_of
from coderunner.sandbox.import_policy import ImportPolicy
from coderunner.sandbox.result import ExecutionResult
from coderunner.sandbox.words import notes, with_notes
from coderunner.settings import Settings
from coderunner.text import as_bytes, head_of
from coderunner.workspace import check_names

_WITHOUT_WALLS = "process"
_TIMES = (EndedBy.WALL_TIME, EndedBy.CPU_TIME)


class Sandbox:
    """Runs code in a box of its own, each time a new one.

    It may be used from many threads and as often as you like. All of them share one engine in the
    background, so making one costs nothing; `close`, or `with`, only says that it is done with.
    """

    def __init__(
        self,
        timeout: float = 5.0,
        max_memory_mb: int = 256,
        max_output_bytes: int = 1_000_000,
        allowed_imports: Iterable[str] | None = None,
        filesystem: Mapping[str, str | bytes] | None = None,
        engine: str = AUTO,
        *,
        limits: Limits | None = None,
        min_isolation: Isolation | str | None = None,
    ) -> None:
        """`timeout` is in seconds. `filesystem` are files that the code finds in its directory.
        `limits` are for all that the others do not say. `min_isolation` refuses to run behind
        weaker walls; with `engine="process"`, which has none, it is `none` unless you say more."""
        self.timeout = timeout
        self.max_memory_mb = max_memory_mb
        self.max_output_bytes = max_output_bytes
        self.allowed_imports = allowed_imports
        self.engine = engine
        self.limits = _limits(limits or Limits(), timeout, max_memory_mb, max_output_bytes)
        self.filesystem = MappingProxyType(dict(filesystem or {}))
        self.files = _files(self.filesystem)
        self.policy = ImportPolicy.of(allowed_imports)
        self.settings = _settings(engine, min_isolation)
        self._closed = False

    def __repr__(self) -> str:
        given = {
            "timeout": self.timeout,
            "max_memory_mb": self.max_memory_mb,
            "max_output_bytes": self.max_output_bytes,
            "allowed_imports": self.allowed_imports,
            "filesystem": list(self.filesystem) or None,
            "engine": self.engine,
        }
        words = ", ".join(f"{name}={value!r}" for name, value in given.items() if value is not None)
        return f"Sandbox({words})"

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is run any more; what runs goes on."""
        self._closed = True

    def run(
        self,
        code: str | bytes,
        language: str = "python",
        stdin: str | bytes = "",
        args: Iterable[str] = (),
        *,
        collect: Iterable[str] = (),
    ) -> ExecutionResult:
        """Run the code and say what came of it. `collect` names the files (globs) that the result
        brings back."""
        self._check_open()
        return background().call(self._run(code, language, stdin, args, collect))

    async def run_async(
        self,
        code: str | bytes,
        language: str = "python",
        stdin: str | bytes = "",
        args: Iterable[str] = (),
        *,
        collect: Iterable[str] = (),
    ) -> ExecutionResult:
        """The same for asyncio code. Cancelling it ends the program at once."""
        self._check_open()
        return await background().hand_over(self._run(code, language, stdin, args, collect))

    async def open_runner(self) -> Runner:
        """What runs the code, in the background's loop."""
        return await background().runner(self.settings)

    async def _run(
        self,
        code: str | bytes,
        language: str,
        stdin: str | bytes,
        args: Iterable[str],
        collect: Iterable[str],
    ) -> ExecutionResult:
        runner = await self.open_runner()
        known = runner.languages.get(language)
        source, given = as_bytes(code, "code"), as_bytes(stdin, "stdin")
        if why := self.policy.objection(known.imports, source, self.filesystem):
            return ExecutionResult("", f"{why}\n", 1, timed_out=False, runtime_ms=0.0)
        program = Program(language, (File(known.source, source), *self.files), _words(args))
        patterns = (collect,) if isinstance(collect, str) else tuple(collect)
        result = await runner.run(program, limits=self.limits, stdin=given, collect=patterns)
        limits = self.limits if result.execution else compile_limits_of(known)
        return self._in_words(result, limits)

    def _in_words(self, result: Result, limits: Limits) -> ExecutionResult:
        outcome, most = result.outcome, self.max_output_bytes
        truncated = any(_is_longer(output, most) for output in (outcome.stdout, outcome.stderr))
        said = notes(outcome.ended_by, limits, truncated_at=most if truncated else None)
        return ExecutionResult(
            stdout=_head(outcome.stdout, most),
            stderr=with_notes(_head(outcome.stderr, most), said),
            exit_code=exit_codes.of_result(result),
            timed_out=outcome.ended_by in _TIMES,
            runtime_ms=round(outcome.usage.wall_ms, 3),
            truncated=truncated,
            ended_by=outcome.ended_by,
            cpu_ms=round(outcome.usage.cpu_ms, 3),
            memory_peak_kb=outcome.usage.memory_peak_kb,
            files={file.name: file.content for file in result.files},
            isolation=outcome.isolation,
        )

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidInput("this sandbox is closed", hint="make another: it costs nothing")


def _limits(given: Limits, timeout: float, memory_mb: int, output_bytes: int) -> Limits:
    """A cut output is a head, and `Limits` keep a head and a tail of the same size."""
    if not _is_a(timeout, int, float):
        raise InvalidLimits(f"timeout must be a number of seconds, not {timeout!r:.80}")
    if not (math.isfinite(timeout) and timeout > 0):
        raise InvalidLimits(f"timeout must be above zero, not {timeout!r}")
    if not _is_a(output_bytes, int) or output_bytes < 1:
        raise InvalidLimits(
            f"max_output_bytes must be a whole number above zero, not {output_bytes!r:.80}"
        )
    return given.but(
        {
            "wall_ms": math.ceil(timeout * 1000),
            "memory_mb": memory_mb,
            "output_bytes": 2 * output_bytes,
            "flood_bytes": max(given.flood_bytes, output_bytes),
        }
    )


def _is_a(value: object, *kinds: type) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _files(filesystem: Mapping[str, str | bytes]) -> tuple[File, ...]:
    files = tuple(File(n, as_bytes(c, f"file {n!r:.80}")) for n, c in filesystem.items())
    if files:
        check_names(files)
    return files


def _settings(engine: str, min_isolation: Isolation | str | None) -> Settings | None:
    """None: those of the environment. Naming an engine without walls in code is asking for it, but
    a bar that the environment sets is not lowered by that."""
    check_name(engine)
    if engine == AUTO and min_isolation is None:
        return None
    settings = Settings() if engine == AUTO else Settings(engine=engine)
    if min_isolation is not None:
        return settings.model_copy(update={"min_isolation": _isolation(min_isolation)})
    if engine == _WITHOUT_WALLS and "min_isolation" not in settings.model_fields_set:
        return settings.model_copy(update={"min_isolation": Isolation.NONE})
    return settings


def _isolation(name: Isolation | str) -> Isolation:
    try:
        return Isolation(name)
    except ValueError:
        known = ", ".join(Isolation)
        raise InvalidInput(
            f"no isolation is called {name!r:.80}", hint=f"there are {known}"
        ) from None


def _words(args: Iterable[str]) -> tuple[str, ...]:
    """A single text is most likely one argument by mistake: whoever checks arguments says so."""
    return args if isinstance(args, str) else tuple(args)  # type: ignore[return-value]


def _is_longer(output: Output, most: int) -> bool:
    return output.dropped > 0 or len(output.head) > most


def _head(output: Output, most: int) -> str:
    return head_of(output.data, most)

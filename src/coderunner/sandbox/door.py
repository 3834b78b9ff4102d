"""Sandbox: limits that are set once, and code that is run within them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Self

from coderunner import exit_codes
from coderunner.background import background
from coderunner.engines import AUTO
from coderunner.errors import InvalidInput
from coderunner.model import EndedBy, File, Isolation, Limits, Output, Program, Result
from coderunner.runner import Runner, compile_limits_of
from coderunner.sandbox.given import (
    files_of,
    filesystem_of,
    limits_of,
    listed,
    patterns_of,
    settings_of,
    words_of,
)
from coderunner.sandbox.import_check import objection
from coderunner.sandbox.import_policy import ImportPolicy
from coderunner.sandbox.result import ExecutionResult
from coderunner.sandbox.words import notes, with_notes
from coderunner.text import as_bytes, head_of

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
        self.allowed_imports = listed(allowed_imports)
        self.engine = engine
        self.limits = limits_of(limits, timeout, max_memory_mb, max_output_bytes)
        self.filesystem = filesystem_of(filesystem)
        self.files = files_of(self.filesystem)
        self.policy = ImportPolicy.of(self.allowed_imports)
        self.settings = settings_of(engine, min_isolation)
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

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "filesystem": dict(self.filesystem)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """As it was, in another process too: what runs the code is not part of it."""
        self.__dict__.update(state, filesystem=MappingProxyType(state["filesystem"]))

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
        if why := await objection(runner, self.policy, known, source, self.filesystem):
            return ExecutionResult("", f"{why}\n", 1, timed_out=False, runtime_ms=0.0)
        program = Program(language, (File(known.source, source), *self.files), words_of(args))
        result = await runner.run(
            program, limits=self.limits, stdin=given, collect=patterns_of(collect)
        )
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


def _is_longer(output: Output, most: int) -> bool:
    return output.dropped > 0 or len(output.head) > most


def _head(output: Output, most: int) -> str:
    return head_of(output.data, most)

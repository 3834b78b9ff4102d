"""An order, carried out: build, run, the facts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_core import to_json

from coderunner import as_json
from coderunner.cancelling import in_thread
from coderunner.capture import Sink
from coderunner.execution import Started, Stdin
from coderunner.model import Outcome, Result, Terminal
from coderunner.server.service import Service
from coderunner.server.v1.order import Order
from coderunner.toolchain import Toolchain

Compiled = Callable[[Outcome], Awaitable[None]]
"""Is told how the compilation went, before the program is run."""
_LARGE = 256 * 1024


async def _nobody(outcome: Outcome) -> None:
    return


async def carry_out(
    service: Service,
    order: Order,
    *,
    stdin: Stdin = None,
    sink: Sink | None = None,
    compiled: Compiled = _nobody,
    started: Started | None = None,
    terminal: Terminal | None = None,
) -> tuple[Result, Toolchain]:
    """To be called when its turn has come. `stdin` is in place of the order's own."""
    async with service.runner.build(order.program, compile_limits=order.compile_limits) as build:
        if build.compilation is not None:
            await compiled(build.compilation)
        result = Result(build.compilation, None)
        if build.ok:
            result = await build.run(
                limits=order.limits,
                stdin=order.stdin if stdin is None else stdin,
                sink=sink,
                started=started,
                terminal=terminal,
                collect=order.collect,
                collect_bytes=order.collect_bytes,
            )
    service.metrics.note(order.language.name, result.outcome)
    return result, build.recipe.toolchain


async def written(result: Result, toolchain: Toolchain) -> bytes:
    """As JSON. A large one is written in a thread, for others do not wait for it."""
    if _size(result) < _LARGE:
        return to_json(answer_to((result, toolchain)))
    return await in_thread(lambda: to_json(answer_to((result, toolchain))))


def answer_to(carried_out: tuple[Result, Toolchain]) -> dict[str, Any]:
    result, toolchain = carried_out
    left_out = ({**as_json.of_name(s.name), "reason": s.reason} for s in result.left_out)
    return {
        **as_json.of_result(result, toolchain),
        "files": as_json.of_files(result.files),
        "files_left_out": list(left_out),
    }


def _size(result: Result) -> int:
    outcomes = (one for one in (result.compilation, result.execution) if one is not None)
    printed = sum(len(one.stdout.data) + len(one.stderr.data) for one in outcomes)
    return printed + sum(len(file.content) for file in result.files)

"""One cell, from what is sent to what came of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from coderunner.cancelling import cancel, in_thread
from coderunner.model import Limits, Stream
from coderunner.notebook.model import ErrorType
from coderunner.notebook.session import endings
from coderunner.notebook.session.collecting import Collecting
from coderunner.notebook.session.conversation import Conversation
from coderunner.notebook.session.result import CellError, CellResult

_AFTER_INTERRUPT_S = 2.0  # for a cell to end by itself
_AFTER_FLOOD_S = 0.3  # it may have been the last of it
_DISPLAYS = 20  # times as much as of each stream

OnOutput = Callable[[Stream, str], object]


async def run_cell(
    conversation: Conversation,
    code: str,
    *,
    timeout: float,
    max_output_bytes: int,
    limits: Limits,
    on_output: OnOutput | None,
) -> CellResult:
    """If the kernel has not survived it, `error` says why."""
    started = time.monotonic()
    most = max_output_bytes
    collecting = Collecting(most, _DISPLAYS * most, limits.flood_bytes)

    async def tell(stream: Stream, text: str) -> None:
        if on_output is not None:
            await in_thread(lambda: on_output(stream, text))

    cell = asyncio.create_task(conversation.execute(code, collecting, tell))
    flood = asyncio.create_task(collecting.flooded.wait())
    error: CellError | None = None
    try:
        await asyncio.wait({cell, flood}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if cell.done():
            cell.result()
        else:
            error = _why_ended(flooded=flood.done(), timeout=timeout)
            await _end(conversation, cell, after=_AFTER_FLOOD_S if flood.done() else 0)
    except BaseException:
        await cancel([cell])
        await _interrupt(conversation, cell)
        raise
    finally:
        await cancel([cell, flood])
    if not conversation.alive:
        error = _why_dead(conversation, error, limits)
    duration_ms = int((time.monotonic() - started) * 1000)
    return collecting.result(error, duration_ms=duration_ms, alive=conversation.alive)


async def _end(conversation: Conversation, cell: asyncio.Task[None], *, after: float) -> None:
    if after:
        await asyncio.wait({cell}, timeout=after)
    if not cell.done() and not conversation.answered:
        await _interrupt(conversation, cell)


async def _interrupt(conversation: Conversation, cell: asyncio.Task[None]) -> None:
    """Whoever does not listen to that is ended."""
    conversation.interrupt()
    over = asyncio.create_task(conversation.settled()) if cell.done() else cell
    try:
        await asyncio.wait({over}, timeout=_AFTER_INTERRUPT_S)
        if not over.done():
            await conversation.close()
    finally:
        await cancel([over])


def _why_ended(*, flooded: bool, timeout: float) -> CellError:
    if flooded:
        said = "The cell was interrupted: its output was too much."
        return CellError(type=ErrorType.OUTPUT_LIMIT, message=said)
    said = f"Execution timed out after {timeout:g} seconds."
    return CellError(type=ErrorType.TIMEOUT, message=said)


def _why_dead(conversation: Conversation, error: CellError | None, limits: Limits) -> CellError:
    if error is not None:
        how = "It did not stop" if conversation.closing else "It did not survive that"
        words = f"{error.message} {how}. The session is dead; {endings.RESTART}."
        return error.model_copy(update={"message": words})
    if conversation.unreachable:
        return endings.dead(ErrorType.RUNTIME_ERROR, "the interpreter cannot be reached")
    ended = conversation.ended
    if not ended.done() or ended.cancelled():
        return endings.dead(ErrorType.UNKNOWN_EXECUTOR_ERROR, "it was ended from outside")
    if failure := ended.exception():
        return endings.of_failure(failure)
    return endings.of_outcome(ended.result(), limits)

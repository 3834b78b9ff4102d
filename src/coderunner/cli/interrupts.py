"""Ctrl-C and friends: what runs is cancelled, cleans up after itself, and then we go."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
LoopFactory = Callable[[], asyncio.AbstractEventLoop]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):
    """A signal ended our work. Nothing of it is left."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def run(work: Coroutine[Any, Any, T], loop: LoopFactory | None = None) -> T:
    """Run a coroutine to its end, or raise Interrupted once it has cleaned up."""
    try:
        with asyncio.Runner(loop_factory=loop) as runner:
            return runner.run(_guarded(work))
    finally:
        # People press Ctrl-C twice. All that is left to do is to leave.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


async def _guarded(work: Coroutine[Any, Any, T]) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)
    received: list[int] = []

    def on_signal(number: int) -> None:
        # Only the first one: a second would cancel the cleaning up.
        if not received:
            task.cancel()
        received.append(number)

    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, or `&` in a script
            loop.add_signal_handler(number, on_signal, number)
    try:
        result = await task
    except asyncio.CancelledError:
        if not received:
            raise
        raise Interrupted(received[0]) from None
    if received:
        raise Interrupted(received[0])
    return result

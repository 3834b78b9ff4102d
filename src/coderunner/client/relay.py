"""Live output, made exact.

A service drops what a reader is too slow for; but the result may have it. So what comes is passed
on until something is missing, and the rest when the result is there. Bytes are lost only where they
are missing in the result, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import Any, Protocol

from coderunner.client.steps import Ended, Missed, Step, Tell
from coderunner.model import Outcome, Output, Stream

Steps = Generator[Step, Any, None]


class Listening(Protocol):
    """What becomes of live output."""

    def printed(self, stream: Stream, data: bytes) -> Steps: ...

    def dropped(self, stream: Stream, count: int) -> Steps: ...


class AsItComes:
    """Of what is nothing but text."""

    def printed(self, stream: Stream, data: bytes) -> Steps:
        yield Tell(stream, data)

    def dropped(self, stream: Stream, count: int) -> Steps:
        yield Missed(stream, count)


class Relay:
    def __init__(self) -> None:
        self._passed: Counter[Stream] = Counter()  # bytes
        self._waiting: set[Stream] = set()  # for the result

    def printed(self, stream: Stream, data: bytes) -> Steps:
        if stream not in self._waiting:
            self._passed[stream] += len(data)
            yield Tell(stream, data)

    def dropped(self, stream: Stream, count: int) -> Steps:
        self._waiting.add(stream)
        yield from ()

    def conclude(self, outcome: Outcome | None) -> Steps:
        """What has not been passed on, and that there is no more."""
        for stream in Stream:
            if outcome is not None:
                yield from self._rest(stream, getattr(outcome, stream.value))
            yield Ended(stream)

    def _rest(self, stream: Stream, output: Output) -> Steps:
        passed = self._passed[stream]
        beyond = max(0, passed - len(output.head))
        missed = max(0, output.dropped - beyond)
        if head := output.head[passed:]:
            yield Tell(stream, head)
        if missed:
            yield Missed(stream, missed)
        if tail := output.tail[max(0, beyond - output.dropped) :]:
            yield Tell(stream, tail)

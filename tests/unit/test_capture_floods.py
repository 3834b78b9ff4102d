"""A flood of output ends the run and starves nobody."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from coderunner.capture import communicate
from coderunner.model import EndedBy, Exit, Limits, Output, Stream
from tests.unit.piped import OK, USAGE, Piped, finish_in, run

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("stream", list(Stream))
async def test_a_flood_ends_the_run(stream: Stream) -> None:
    def play(process: Piped) -> None:
        try:
            while True:
                os.write(process.fd(stream), bytes(65536))
        except OSError:
            pass  # killed

    limits = Limits(output_bytes=1000, flood_bytes=1_000_000)
    ended, out, err, process = await run(play, limits=limits)
    flooded, quiet = (out, err) if stream is Stream.STDOUT else (err, out)
    assert ended.ended_by is EndedBy.OUTPUT
    assert process.killed[0] is EndedBy.OUTPUT
    assert len(flooded.data) == 1000
    assert flooded.dropped > 900_000
    assert quiet == Output()


async def test_exactly_the_flood_limit_is_no_flood() -> None:
    def play(process: Piped) -> None:
        os.write(process.fd(Stream.STDOUT), bytes(5000))
        finish_in(process)

    ended, out, _, process = await run(play, limits=Limits(flood_bytes=5000))
    assert ended == OK
    assert len(out.data) == 5000
    assert process.killed == [EndedBy.KILLED]  # by close()


@pytest.mark.parametrize("stream", list(Stream))
@pytest.mark.parametrize(
    ("how", "ended_by"),
    [
        (OK, EndedBy.OUTPUT),
        (Exit(EndedBy.SIGNAL, None, 11, USAGE), EndedBy.OUTPUT),
        (Exit(EndedBy.MEMORY, None, 9, USAGE), EndedBy.MEMORY),
    ],
)
async def test_a_flood_that_is_only_read_after_the_end(
    stream: Stream, how: Exit, ended_by: EndedBy
) -> None:
    process = Piped()
    os.write(process.fd(stream), bytes(6000))
    process.finish(how)
    ended, *_ = await communicate(process, stdin=None, limits=Limits(flood_bytes=5999))
    assert ended.ended_by is ended_by
    assert (ended.exit_code, ended.signal) == (how.exit_code, how.signal)
    await process.close()


async def test_a_flood_does_not_starve_other_tasks() -> None:
    longest = 0.0

    async def beat() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - before)

    class Endless:
        async def read(self) -> bytes:
            return bytes(65536)

    process = Piped()
    process.readers[Stream.STDOUT].close()
    process.reader = lambda stream: (  # type: ignore[method-assign]
        Endless() if stream is Stream.STDOUT else process.readers[stream]
    )
    heart = asyncio.create_task(beat())
    limits = Limits(flood_bytes=2_000_000_000)
    ended, _, _ = await communicate(process, stdin=None, limits=limits)
    heart.cancel()
    await process.close()
    assert ended.ended_by is EndedBy.OUTPUT
    assert longest < 0.2

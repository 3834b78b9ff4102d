"""The drain loop always comes to an end, and with everything that was written before it."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from coderunner import capture as capture_module
from coderunner.capture import communicate
from coderunner.errors import EngineUnavailable
from coderunner.model import EndedBy, Limits, Output, Stream
from tests.unit.piped import OK, Piped, finish_in, run

pytestmark = pytest.mark.unit


async def test_150_kb_and_an_exit_right_after_arrive_whole() -> None:
    data = os.urandom(150_000)

    def play(process: Piped) -> None:
        os.write(process.fd(Stream.STDOUT), data)
        finish_in(process)

    ended, out, err, _ = await run(play)
    assert (ended, out.data, out.dropped, err) == (OK, data, 0, Output())


async def test_the_two_streams_stay_apart() -> None:
    def play(process: Piped) -> None:
        os.write(process.fd(Stream.STDOUT), b"to stdout")
        os.write(process.fd(Stream.STDERR), b"to stderr")
        finish_in(process)

    _, out, err, _ = await run(play)
    assert (out.data, err.data) == (b"to stdout", b"to stderr")


async def test_a_background_child_that_keeps_the_pipe_open_does_not_hang_us() -> None:
    def play(process: Piped) -> None:
        os.write(process.fd(Stream.STDOUT), b"before")
        finish_in(process, keep_open=(Stream.STDOUT,))

    started = time.perf_counter()
    ended, out, _, process = await run(play)
    assert time.perf_counter() - started < 2
    assert (ended, out.data) == (OK, b"before")
    os.close(process.fd(Stream.STDOUT))


@pytest.mark.parametrize("pause", [0.0, 0.01])
async def test_a_background_child_that_keeps_writing_does_not_hang_us(pause: float) -> None:
    def play(process: Piped) -> None:
        finish_in(process, keep_open=(Stream.STDOUT,))
        try:
            while True:
                os.write(process.fd(Stream.STDOUT), b"still here\n")
                time.sleep(pause)
        except BrokenPipeError:
            os.close(process.fd(Stream.STDOUT))

    ended, _, _, _ = await run(play)
    assert ended == OK


async def test_a_slow_sink_gets_everything_after_the_end() -> None:
    data = os.urandom(60_000)
    got: dict[Stream, bytes] = {Stream.STDOUT: b"", Stream.STDERR: b""}

    async def slow(stream: Stream, chunk: bytes) -> None:
        await asyncio.sleep(0.3)
        got[stream] += chunk

    def play(process: Piped) -> None:
        os.write(process.fd(Stream.STDOUT), data[:1])
        time.sleep(0.05)
        os.write(process.fd(Stream.STDOUT), data[1:])
        finish_in(process)

    _, out, _, _ = await run(play, sink=slow)
    assert out.data == got[Stream.STDOUT] == data


async def test_a_slow_sink_and_an_open_pipe() -> None:
    async def slow(stream: Stream, chunk: bytes) -> None:
        await asyncio.sleep(0.3)

    def play(process: Piped) -> None:
        os.write(process.fd(Stream.STDOUT), b"a")
        time.sleep(0.05)
        os.write(process.fd(Stream.STDOUT), b"b")
        finish_in(process, keep_open=(Stream.STDOUT,))

    _, out, _, process = await run(play, sink=slow)
    assert out.data == b"ab"
    os.close(process.fd(Stream.STDOUT))


async def test_a_survivor_that_always_has_something_to_say_does_not_hang_us(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(capture_module, "LAST_READS", 50)

    class Endless:
        async def read(self) -> bytes:
            return b"x"

    async def slow(stream: Stream, chunk: bytes) -> None:
        await asyncio.sleep(0.001)

    process = Piped()
    process.reader = lambda stream: Endless()  # type: ignore[method-assign]
    process.finish()
    task = communicate(process, stdin=None, limits=Limits(), sink=slow)
    assert (await asyncio.wait_for(task, 5))[0] == OK
    await process.close()


async def test_cancelling_kills_and_leaves_no_task() -> None:
    process = Piped()
    task = asyncio.create_task(communicate(process, stdin=bytes(1_000_000), limits=Limits()))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert process.killed == [EndedBy.KILLED]
    assert asyncio.all_tasks() == {asyncio.current_task()}
    await process.close()


async def test_an_engine_that_breaks_raises_and_leaves_no_task() -> None:
    process = Piped()
    process.dead = True
    process.ended.set_exception(EngineUnavailable("the spawner died"))
    with pytest.raises(EngineUnavailable):
        await communicate(process, stdin=b"x", limits=Limits())
    assert asyncio.all_tasks() == {asyncio.current_task()}
    await process.close()

"""One bounded drain loop: what is kept, what is dropped, and that it always comes to an end."""

from __future__ import annotations

import asyncio
import os
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderunner import capture as capture_module
from coderunner.capture import Capture, communicate
from coderunner.engines.base import Process, Reader
from coderunner.errors import EngineUnavailable
from coderunner.model import EndedBy, Exit, Isolation, Limits, Output, Stream, Usage
from coderunner.pipes import PipeReader, PipeWriter

pytestmark = pytest.mark.unit

USAGE = Usage(wall_ms=1.0, cpu_ms=1.0, memory_peak_kb=1)
OK = Exit(EndedBy.EXIT, 0, None, USAGE)


class Piped(Process):
    """A process that is nothing but real pipes: the test plays the program."""

    isolation = Isolation.NONE

    def __init__(self) -> None:
        self.pipes = {stream: os.pipe() for stream in Stream}
        self.stdin_fd, stdin = os.pipe()
        self.readers = {stream: PipeReader(fds[0]) for stream, fds in self.pipes.items()}
        self.writer = PipeWriter(stdin)
        self.ended: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        self.killed: list[EndedBy] = []
        self.dead = False

    def fd(self, stream: Stream) -> int:
        return self.pipes[stream][1]

    def finish(self, how: Exit = OK, *, keep_open: tuple[Stream, ...] = ()) -> None:
        self.dead = True
        os.close(self.stdin_fd)
        for stream in Stream:
            if stream not in keep_open:
                os.close(self.fd(stream))
        self.ended.set_result(how)

    def reader(self, stream: Stream) -> Reader:
        return self.readers[stream]

    async def write(self, data: bytes) -> None:
        await self.writer.write(data)

    def close_stdin(self) -> None:
        self.writer.close()

    def kill(self, reason: EndedBy = EndedBy.KILLED) -> None:
        self.killed.append(reason)
        if not self.dead:
            self.finish(Exit(reason, None, 9, USAGE))

    async def wait(self) -> Exit:
        return await asyncio.shield(self.ended)

    def workspace_fd(self) -> int:
        raise NotImplementedError

    async def close(self) -> None:
        self.kill()
        self.writer.close()
        for reader in self.readers.values():
            reader.close()


Play = Callable[[Piped], None]


async def run(
    play: Play,
    *,
    stdin: bytes | AsyncIterator[bytes] | None = None,
    limits: Limits | None = None,
    sink: Callable[[Stream, bytes], object] | None = None,
) -> tuple[Exit, Output, Output, Piped]:
    """Play a program in a thread (its writes block like a real one's) and communicate with it."""
    process = Piped()

    async def pass_on(stream: Stream, data: bytes) -> None:
        assert sink is not None
        result = sink(stream, data)
        if asyncio.iscoroutine(result):
            await result

    played = asyncio.create_task(asyncio.to_thread(play, process))
    try:
        ended, out, err = await asyncio.wait_for(
            communicate(
                process,
                stdin=stdin,
                limits=limits or Limits(),
                sink=pass_on if sink is not None else None,
            ),
            10,
        )
    finally:
        await process.close()
        await asyncio.wait({played})
        assert asyncio.all_tasks() == {asyncio.current_task()}
    return ended, out, err, process


def finish_in(process: Piped, **how: object) -> None:
    process.ended.get_loop().call_soon_threadsafe(lambda: process.finish(**how))  # type: ignore[arg-type]


# What is kept.


@given(
    limit=st.integers(1, 40),
    chunks=st.lists(st.binary(max_size=50), max_size=30),
)
def test_capture_keeps_the_first_and_the_last_half(limit: int, chunks: list[bytes]) -> None:
    capture = Capture(limit)
    for chunk in chunks:
        capture.feed(chunk)
    everything, output = b"".join(chunks), capture.output()
    assert capture.total == len(everything)
    assert len(output.data) + output.dropped == len(everything)
    if len(everything) <= limit:
        assert output == Output(head=everything)
    else:
        assert len(output.data) == limit
        assert len(output.head) - len(output.tail) in (0, 1)
        assert everything.startswith(output.head)
        assert everything.endswith(output.tail)


@pytest.mark.parametrize("total", [9, 10, 11])
@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_capture_at_the_edge_of_its_limit(total: int, chunk: int) -> None:
    data = bytes(range(total))
    capture = Capture(10)
    for start in range(0, total, chunk):
        capture.feed(data[start : start + chunk])
    assert capture.output().dropped == max(0, total - 10)
    if total <= 10:
        assert capture.output().data == data


@pytest.mark.parametrize("chunk", [1, 65536])
def test_capture_stays_small_and_fast(chunk: int) -> None:
    limit, total = 100_000, 300_000 if chunk == 1 else 200_000_000
    piece = bytes(chunk)
    capture = Capture(limit)
    tracemalloc.start()
    started = time.perf_counter()
    for _ in range(total // chunk):
        capture.feed(piece)
    took = time.perf_counter() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * limit + chunk
    assert took < 10
    assert capture.output().dropped == total // chunk * chunk - limit


def test_output_can_be_looked_at_while_it_grows() -> None:
    capture = Capture(4)
    capture.feed(b"ab")
    assert capture.output() == Output(head=b"ab")
    capture.feed(b"cdef")
    assert capture.output() == Output(head=b"ab", tail=b"ef", dropped=2)


# How it ends.


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


# The sink.


async def test_the_sink_sees_every_byte_in_order() -> None:
    got: dict[Stream, bytes] = {Stream.STDOUT: b"", Stream.STDERR: b""}
    data = os.urandom(300_000)

    def sink(stream: Stream, chunk: bytes) -> None:
        got[stream] += chunk

    def play(process: Piped) -> None:
        os.write(process.fd(Stream.STDOUT), data)
        os.write(process.fd(Stream.STDERR), b"err")
        finish_in(process)

    _, out, _, _ = await run(play, sink=sink, limits=Limits(output_bytes=10))
    assert got == {Stream.STDOUT: data, Stream.STDERR: b"err"}
    assert out.dropped == len(data) - 10


async def test_the_sink_sees_bytes_while_the_program_runs() -> None:
    seen = asyncio.Event()

    def sink(stream: Stream, chunk: bytes) -> None:
        seen.set()

    process = Piped()

    async def drive() -> None:
        os.write(process.fd(Stream.STDOUT), b"live")
        await asyncio.wait_for(seen.wait(), 5)
        process.finish()

    async def pass_on(stream: Stream, chunk: bytes) -> None:
        sink(stream, chunk)

    driving = asyncio.create_task(drive())
    await communicate(process, stdin=None, limits=Limits(), sink=pass_on)
    await driving
    await process.close()


async def test_a_sink_that_raises_ends_the_run() -> None:
    def sink(stream: Stream, chunk: bytes) -> None:
        raise ConnectionResetError("the client has gone")

    def play(process: Piped) -> None:
        os.write(process.fd(Stream.STDOUT), b"x")

    with pytest.raises(ConnectionResetError, match="client has gone"):
        await run(play, sink=sink)


# stdin.


def read_stdin(process: Piped) -> bytes:
    chunks = []
    while chunk := os.read(process.stdin_fd, 65536):
        chunks.append(chunk)
    return b"".join(chunks)


@pytest.mark.parametrize("data", [b"", b"hello\n", bytes(1_000_000)])
async def test_stdin_arrives_and_ends(data: bytes) -> None:
    got = []

    def play(process: Piped) -> None:
        got.append(read_stdin(process))
        finish_in(process)

    await run(play, stdin=data)
    assert got == [data]


async def test_no_stdin_is_an_empty_stdin() -> None:
    def play(process: Piped) -> None:
        assert read_stdin(process) == b""
        finish_in(process)

    assert (await run(play, stdin=None))[0] == OK


async def test_stdin_from_a_source() -> None:
    got = []

    async def source() -> AsyncIterator[bytes]:
        yield b"one "
        await asyncio.sleep(0.01)
        yield b"two"

    def play(process: Piped) -> None:
        got.append(read_stdin(process))
        finish_in(process)

    await run(play, stdin=source())
    assert got == [b"one two"]


async def test_a_program_may_leave_stdin_unread() -> None:
    def play(process: Piped) -> None:
        finish_in(process)

    assert (await run(play, stdin=bytes(1_000_000)))[0] == OK


async def test_a_program_may_close_stdin_and_go_on() -> None:
    closed = []

    async def source() -> AsyncIterator[bytes]:
        try:
            while True:
                yield bytes(100_000)
        finally:
            closed.append(True)

    def play(process: Piped) -> None:
        os.dup2(os.open("/dev/null", os.O_RDONLY), process.stdin_fd)
        time.sleep(0.05)
        os.write(process.fd(Stream.STDOUT), b"done")
        finish_in(process)

    ended, out, _, _ = await run(play, stdin=source())
    assert (ended, out.data, closed) == (OK, b"done", [True])


async def test_a_terminal_that_never_ends_does_not_keep_us() -> None:
    closed = []

    async def terminal() -> AsyncIterator[bytes]:
        try:
            yield b"first line\n"
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    def play(process: Piped) -> None:
        os.read(process.stdin_fd, 100)
        finish_in(process)

    assert (await run(play, stdin=terminal()))[0] == OK
    assert closed == [True]


async def test_a_source_that_raises_ends_the_run() -> None:
    async def source() -> AsyncIterator[bytes]:
        yield b"x"
        raise ValueError("bad upload")

    with pytest.raises(ValueError, match="bad upload"):
        await run(lambda process: None, stdin=source())


# The caller and the engine.


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

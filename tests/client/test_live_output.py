from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from coderunner import AsyncClient, Client, File, Limits, Program, Stream
from coderunner.model import MIB
from tests.server.conftest import Service

pytestmark = pytest.mark.integration


class Heard:
    """A sink that remembers."""

    def __init__(self) -> None:
        self.data = dict.fromkeys(Stream, b"")
        self.pieces: list[tuple[Stream, bytes]] = []
        self.lost = 0
        self.over: list[Stream] = []

    def __call__(self, stream: Stream, data: bytes) -> None:
        self.data[stream] += data
        self.pieces.append((stream, data))

    def missed(self, stream: Stream, count: int) -> None:
        self.lost += count

    def ended(self, stream: Stream) -> None:
        self.over.append(stream)


class AsyncHeard(Heard):
    async def __call__(self, stream: Stream, data: bytes) -> None:  # type: ignore[override]
        super().__call__(stream, data)

    async def ended(self, stream: Stream) -> None:  # type: ignore[override]
        super().ended(stream)


def test_it_comes_while_the_program_runs(client: Client) -> None:
    """Or nobody could answer what it asks."""
    code = "print('first', flush=True)\nwhile True: pass"
    heard = Heard()
    with pytest.raises(RuntimeError, match="enough"):
        client.run(code, sink=_until_heard(heard, b"first\n"))


def _until_heard(heard: Heard, wanted: bytes) -> Heard:
    class Impatient(Heard):
        def __call__(self, stream: Stream, data: bytes) -> None:
            heard(stream, data)
            if heard.data[Stream.STDOUT] == wanted:
                raise RuntimeError("enough")

    return Impatient()


def test_all_bytes_of_both_streams(client: Client) -> None:
    code = """
import sys
sys.stdout.buffer.write("schön".encode() + bytes(range(256)) + b"end")
sys.stderr.write("\\ufffd is a character, too")
"""
    heard = Heard()
    result = client.run(code, sink=heard)
    assert heard.data[Stream.STDOUT] == "schön".encode() + bytes(range(256)) + b"end"
    assert heard.data[Stream.STDERR].decode() == "\ufffd is a character, too" == result.stderr
    assert heard.over == list(Stream)


def test_a_slow_reader_gets_all_that_is_kept(client: Client) -> None:
    """The service drops what does not fit, and the result has it."""
    size = 3 * MIB
    heard = Heard()
    result = client.run(
        f"import sys; sys.stdout.write('x' * {size}); sys.stderr.write('done')",
        limits=Limits(output_bytes=4 * MIB),
        sink=heard,
    )
    assert heard.data[Stream.STDOUT] == b"x" * size == result.outcome.stdout.data
    assert heard.data[Stream.STDERR] == b"done"
    assert not heard.lost


def test_what_nobody_has_kept_is_counted(client: Client) -> None:
    heard = Heard()
    result = client.run("print('x' * 20_000_000, end='')", sink=heard)
    assert len(heard.data[Stream.STDOUT]) + heard.lost == 20_000_000
    assert heard.lost <= result.outcome.stdout.dropped


async def test_input_that_comes_while_it_runs(service: Service) -> None:
    """Each line is sent when the one before has been answered."""
    answered = asyncio.Event()

    class Answered(AsyncHeard):
        async def __call__(self, stream: Stream, data: bytes) -> None:  # type: ignore[override]
            await super().__call__(stream, data)
            answered.set()

    async def lines() -> AsyncIterator[bytes]:
        for line in (b"one\n", b"\xff\n", b"three\n"):
            yield line
            await answered.wait()
            answered.clear()

    code = b"""
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line[::-1])
    sys.stdout.flush()
"""
    heard = Answered()
    async with AsyncClient(service.url) as client:
        program = Program("python", (File("main.py", code),))
        answer = await client.converse(program, stdin=lines(), sink=heard)
    assert answer.exit_code == 0
    assert heard.data[Stream.STDOUT] == b"\neno\n\xff\neerht"
    assert heard.over == list(Stream)


async def test_a_source_of_input_that_fails_ends_it(service: Service) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"x"
        raise ValueError("no more")

    program = Program("python", (File("main.py", b"import time; time.sleep(60)"),))
    async with AsyncClient(service.url) as client:
        with pytest.raises(ValueError, match="no more"):
            await client.converse(program, stdin=broken(), limits=Limits(wall_ms=60_000))


def test_many_threads_share_a_client(client: Client) -> None:
    found: dict[int, str] = {}

    def one(number: int) -> None:
        found[number] = client.run(f"print({number})", sink=Heard()).stdout

    threads = [threading.Thread(target=one, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: f"{number}\n" for number in range(12)}

"""What is kept of a stream, and what is dropped."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderunner.capture import Capture
from coderunner.model import Output

pytestmark = pytest.mark.unit


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

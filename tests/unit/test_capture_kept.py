"""What is kept of a stream, and what is dropped. (`tests/properties` has every boundary.)"""

from __future__ import annotations

import time
import tracemalloc

import pytest

from coderunner.capture import Capture
from coderunner.model import Output

pytestmark = pytest.mark.unit


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

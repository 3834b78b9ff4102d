"""What is kept of a program's output, at every boundary there is: by the byte, not by the chunk."""

from __future__ import annotations

import asyncio
import itertools
import os

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coderunner.capture import Capture
from coderunner.model import EndedBy, Exit, Limits, Output, Stream
from coderunner.pipes import CHUNK
from tests.properties.conftest import Boxes
from tests.properties.effort import examples
from tests.unit.piped import OK, Piped, finish_in, run

AROUND = [-1, 0, 1]


def marked(size: int) -> bytes:
    """Bytes of which every stretch is different, with NULs and what is no UTF-8 among them."""
    return b"".join(number.to_bytes(3, "big") for number in range(size // 3 + 1))[:size]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """The data in chunks; the places to cut at may be anything."""
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def kept_of(data: bytes, limit: int) -> Output:
    """All of it, or its first and its last half; the odd byte belongs to the head."""
    if len(data) <= limit:
        return Output(head=data)
    head = limit - limit // 2
    tail = data[len(data) - limit // 2 :]
    return Output(data[:head], tail, dropped=len(data) - limit)


@st.composite
def sizes(draw: st.DrawFn, limit: int) -> int:
    """Of an output: at every boundary of the capture, one less and one more."""
    half = limit - limit // 2
    boundary = draw(st.sampled_from([0, 1, half, limit // 2, limit, limit + half, 2 * limit]))
    return max(0, boundary + draw(st.sampled_from(AROUND)))


places = st.lists(st.integers(0, 1 << 20), max_size=8)


@pytest.mark.unit
@given(data=st.data(), limit=st.integers(1, 50) | st.sampled_from([1000, CHUNK, CHUNK + 1]))
def test_a_capture_keeps_head_and_tail_however_it_comes(data: st.DataObject, limit: int) -> None:
    written = marked(data.draw(sizes(limit)))
    capture = Capture(limit)
    for chunk in cut(written, data.draw(places)):
        capture.feed(chunk)
    assert capture.output() == kept_of(written, limit)
    assert capture.total == len(written)
    assert isinstance(capture.output().text, str)


def played(outputs: dict[Stream, list[bytes]], limits: Limits) -> tuple[Exit, Output, Output]:
    """A program that writes this to real pipes, a chunk to each stream in turn, and exits."""

    def play(process: Piped) -> None:
        left = {stream: list(chunks) for stream, chunks in outputs.items()}
        try:
            while any(left.values()):
                for stream, chunks in left.items():
                    if chunks:
                        os.write(process.fd(stream), chunks.pop(0))
        except OSError:
            return  # killed
        finish_in(process)

    ended, out, err, _ = asyncio.run(run(play, limits=limits))
    return ended, out, err


@pytest.mark.unit
@given(data=st.data(), limit=st.integers(1, 20) | st.sampled_from([CHUNK - 1, CHUNK, CHUNK + 1]))
def test_both_streams_through_real_pipes(data: st.DataObject, limit: int) -> None:
    written = {stream: marked(data.draw(sizes(limit))) for stream in Stream}
    outputs = {stream: cut(each, data.draw(places)) for stream, each in written.items()}
    ended, out, err = played(outputs, Limits(output_bytes=limit))
    assert ended == OK
    assert out == kept_of(written[Stream.STDOUT], limit)
    assert err == kept_of(written[Stream.STDERR], limit)


@pytest.mark.unit
@given(
    stream=st.sampled_from(list(Stream)),
    flood=st.integers(1, 100) | st.sampled_from([CHUNK - 1, CHUNK, 2 * CHUNK]),
    beyond=st.integers(-2, 2) | st.sampled_from([CHUNK, 3 * CHUNK]),
    limit=st.integers(1, 200),
    places=places,
)
@example(stream=Stream.STDOUT, flood=1, beyond=0, limit=1, places=[])
@example(stream=Stream.STDERR, flood=CHUNK, beyond=1, limit=9, places=[CHUNK])
def test_a_flood_is_one_byte_too_many(
    stream: Stream, flood: int, beyond: int, limit: int, places: list[int]
) -> None:
    written = marked(max(0, flood + beyond))
    limits = Limits(output_bytes=limit, flood_bytes=flood)
    ended, out, err = played({stream: cut(written, places)}, limits)
    flooded, quiet = (out, err) if stream is Stream.STDOUT else (err, out)
    assert quiet == Output()
    seen = len(flooded.data) + flooded.dropped
    assert flooded == kept_of(written[:seen], limit)
    if len(written) <= flood:
        assert (ended, seen) == (OK, len(written))
    else:
        # It may have been faster than we were, but the flood is seen all the same.
        assert ended.ended_by in (EndedBy.OUTPUT, EndedBy.EXIT)
        assert flood < seen <= len(written)


@pytest.mark.engines
@examples(25)
@given(data=st.data(), limit=st.integers(1, 20) | st.sampled_from([1000, CHUNK - 1, CHUNK]))
def test_a_program_in_a_box(boxes: Boxes, data: st.DataObject, limit: int) -> None:
    written = marked(data.draw(sizes(limit)))
    outcome = boxes.run("/bin/cat", stdin=written, limits={"output_bytes": limit})
    assert outcome.ok
    assert outcome.stdout == kept_of(written, limit)


@pytest.mark.engines
@examples(15)
@given(flood=st.integers(1, 200_000), beyond=st.integers(-2, 2))
def test_a_flood_in_a_box(boxes: Boxes, flood: int, beyond: int) -> None:
    written = marked(max(1, flood + beyond))
    script = 'cat; test -z "$1" || sleep 60'
    limits = {"flood_bytes": flood, "output_bytes": 10}
    waits = "yes" if len(written) > flood else ""
    outcome = boxes.run("/bin/sh", "-c", script, "sh", waits, stdin=written, limits=limits)
    assert outcome.ended_by is (EndedBy.OUTPUT if waits else EndedBy.EXIT)
    seen = len(outcome.stdout.data) + outcome.stdout.dropped
    assert outcome.stdout == kept_of(written[:seen], 10)

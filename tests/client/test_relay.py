"""Live output is exact, whatever of it was dropped or was no text."""

from __future__ import annotations

import asyncio
import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderunner.capture import Capture
from coderunner.client.events import Events
from coderunner.client.following import heard
from coderunner.client.relay import Relay, Steps
from coderunner.client.steps import Ended, Missed, Tell
from coderunner.errors import EngineUnavailable
from coderunner.model import EndedBy as By
from coderunner.model import Isolation, Outcome, Stream, Usage
from coderunner.server.outbox import Event, Outbox

pytestmark = pytest.mark.unit
Chunks = list[tuple[bytes, bool]]
CHUNK = st.tuples(st.binary(max_size=6) | st.sampled_from(["é".encode(), b"ab"]), st.booleans())


class Reader:
    def __init__(self) -> None:
        self.parts: list[bytes | int] = []
        self.ended: list[Stream] = []

    def take(self, steps: Steps) -> None:
        for step in steps:
            match step:
                case Tell(stream=Stream.STDOUT, data=data):
                    self.parts.append(data)
                case Missed(stream=Stream.STDOUT, count=count):
                    self.parts.append(count)
                case Ended(stream=stream):
                    self.ended.append(stream)


@given(st.lists(CHUNK, max_size=30), st.integers(min_value=1, max_value=40), st.integers(0, 1000))
def test_what_is_told_is_what_was_printed(chunks: Chunks, kept: int, room: int) -> None:
    """After those with a flag, a slow reader catches up."""
    printed = b"".join(data for data, _ in chunks)
    capture = Capture(kept)
    capture.feed(printed)
    relay, reader = Relay(), Reader()
    counted = 0
    for event in asyncio.run(told(chunks, room)):
        counted += event["bytes"] if event["type"] == "dropped" else size(event)
        reader.take(heard(relay, event["type"], json.loads(json.dumps(event))))
    assert counted == len(printed)
    reader.take(relay.conclude(outcome(capture)))

    place, missed = 0, 0
    for part in reader.parts:
        if isinstance(part, bytes):
            assert printed[place : place + len(part)] == part
        else:
            missed += part
        place += part if isinstance(part, int) else len(part)
    assert place == len(printed)
    assert missed <= capture.output().dropped
    assert reader.ended == list(Stream)


def size(printed: Event) -> int:
    exact = printed.get("base64")
    return len(printed["data"].encode() if exact is None else base64.b64decode(exact))


async def told(chunks: Chunks, room: int) -> list[Event]:
    """By the service's own outbox."""
    outbox, found = Outbox(room), []

    async def read() -> None:
        async for event in outbox.events():
            found.append(event)

    reading = asyncio.create_task(read())
    for data, catch_up in chunks:
        outbox.printed(Stream.STDOUT, data)
        for _ in range(5 if catch_up else 0):
            await asyncio.sleep(0)
    outbox.finished(Stream.STDOUT)
    outbox.close()
    await reading
    return found


def outcome(capture: Capture) -> Outcome:
    nothing = Capture(1).output()
    return Outcome(
        By.EXIT, 0, None, Usage(0, 0, 0), capture.output(), nothing, Isolation.FULL, "linux"
    )


@given(
    st.lists(st.integers(min_value=1, max_value=9), max_size=40), st.sampled_from(["\n", "\r\n"])
)
def test_events_in_any_pieces(sizes: list[int], newline: str) -> None:
    told = [("queued", {}), ("stdout", {"data": "é\n"}), ("end", {"result": None})]
    lines = [":"]
    for name, facts in told:
        lines += [f"event: {name}", f"data: {json.dumps(facts)}", "", ": alive", ""]
    rest = newline.join([*lines, ""]).encode()
    arriving, found = Events(), []
    for size in [*sizes, len(rest)]:
        found += arriving.feed(rest[:size])
        rest = rest[size:]
    assert found == told


def test_an_event_that_is_no_json_is_nonsense() -> None:
    with pytest.raises(EngineUnavailable, match="makes no sense"):
        Events().feed(b"data: {\n\n")

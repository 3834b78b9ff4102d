"""Whatever process 1 of a box says, only its own run suffers.

Process 1 is ours, but it lives next door to a hostile program. Here it is replaced by one that
says what the test wants, in a real spawner with real clones.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties.effort import examples
from tests.properties.line import Line, open_line
from tests.support import require_sandbox

pytestmark = pytest.mark.engines

# The file says what a box says before and after it gets its job: pairs of a packet and how many
# descriptors come with it. While it is not there (as in the trial at the start) boxes are real.
LIAR = """
import base64, json, os, socket, sys
sys.path.insert(0, sys.argv[1])
from boxes import inside, spawner

honest = inside.run

def lie(plan, fds):
    if not os.path.exists(sys.argv[2]):
        honest(plan, fds)
    with open(sys.argv[2]) as file:
        before, after = json.load(file)
    own_channel, root, scratch, *_ = fds
    os.mkdir("workspace", dir_fd=scratch)
    channel = socket.socket(fileno=own_channel)
    say(channel, before)
    channel.recv(1 << 20)
    say(channel, after)
    os._exit(0)

def say(channel, packets):
    for packet, fds in packets:
        socket.send_fds(channel, [base64.b64decode(packet)], [0] * fds)

inside.run = lie
spawner.main()
"""

READY = b'{"op":"report","ready":true}'
DONE = b'{"op":"report","status":0,"wall_ms":1.5,"cpu_ms":1.0,"max_rss_kb":100}'
Packets = list[tuple[bytes, int]]


class Liar:
    def __init__(self, line: Line, script: Path, workspace: Path) -> None:
        self.line = line
        self._script = script
        self._workspace = workspace

    def run(self, before: Packets, after: Packets) -> dict[str, Any]:
        """Run a job in a box that says this, and return what its caller hears."""
        packets = [
            [(base64.b64encode(packet).decode(), fds) for packet, fds in said]
            for said in (before, after)
        ]
        self._script.write_text(json.dumps(packets))
        return self.line.run(self.line.job("/bin/true"), self._workspace)

    def run_and_see_it_survived(self, before: Packets, after: Packets) -> dict[str, Any]:
        holdings = self.line.holdings()
        answer = self.run(before, after)
        self._script.unlink()
        honest = self.line.run(self.line.job("/bin/true"), self._workspace)
        assert (honest["op"], honest.get("exit_code")) == ("ended", 0), honest
        assert self.line.holds_only(holdings), (holdings, self.line.holdings())
        return answer


@pytest.fixture(scope="module")
def liar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Liar]:
    require_sandbox()
    script = tmp_path_factory.mktemp("liar") / "script"
    with open_line(LIAR, str(script), "--interpreted") as line:
        yield Liar(line, script, tmp_path_factory.mktemp("workspace"))


def test_the_liar_can_tell_the_truth(liar: Liar) -> None:
    answer = liar.run_and_see_it_survived([(READY, 0)], [(DONE, 0)])
    assert (answer["op"], answer["ended_by"], answer["exit_code"]) == ("ended", "exit", 0)


packet = st.tuples(st.binary(max_size=200), st.integers(0, 6))
endless = b'{"op":"report","failed":"' + "é".encode() * 60_000 + b'"}'


@examples(50)
@given(before=st.lists(packet, min_size=1, max_size=3))  # a silent one gets 30 seconds
@example(before=[(b"[" * 100_000, 0)])
@example(before=[(b"", 4)])
@example(before=[(endless, 2)])
@example(before=[(b'{"op":"report","failed":[1]}', 0)])
def test_anything_instead_of_ready(liar: Liar, before: Packets) -> None:
    answer = liar.run_and_see_it_survived(before, [(DONE, 0)])
    assert (answer["op"], answer["kind"]) == ("failed", "engine")


@examples(50)
@given(after=st.lists(packet, max_size=3))
@example(after=[(b"[" * 100_000, 0)])
@example(after=[(b"", 4)])
@example(after=[(endless, 2)])
@example(after=[(READY, 4)])
def test_anything_instead_of_a_report(liar: Liar, after: Packets) -> None:
    answer = liar.run_and_see_it_survived([(READY, 1)], after)
    assert (answer["op"], answer["kind"]) == ("failed", "engine")


values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=10)
    | st.lists(st.integers(), max_size=2)
)


@examples(80)
@given(field=st.sampled_from([*json.loads(DONE)]), value=values)
@example(field="status", value=0x137F)  # stopped
@example(field="status", value=0xFFFF)  # continued
@example(field="wall_ms", value=float("nan"))
@example(field="max_rss_kb", value=10**400)
@example(field="start_errno", value="ENOENT")
@example(field="start_errno", value=2.5)
@example(field="start_errno", value=10**18)
def test_a_report_with_one_wrong_field(liar: Liar, field: str, value: object) -> None:
    report = {**json.loads(DONE), field: value}
    answer = liar.run_and_see_it_survived([(READY, 0)], [(json.dumps(report).encode(), 0)])
    if answer["op"] == "failed":
        assert answer["kind"] == "engine"
    else:
        assert is_sound(answer), (report, answer)


def is_sound(answer: dict[str, Any]) -> bool:
    """A caller can make an Exit of it that means something."""
    figures = [answer[name] for name in ("wall_ms", "cpu_ms", "memory_peak_kb")]
    code, number = answer["exit_code"], answer["signal"]
    return (
        answer["ended_by"] in ("exit", "signal", "memory")
        and all(type(figure) in (int, float) and 0 <= figure < 1e19 for figure in figures)
        and (code, number).count(None) == 1
        and (code in range(256) or number in range(1, 128))
    )

"""Whatever a caller says, the spawner lives on: a bug in one job must not end all the others.

A real spawner is told nonsense. It may refuse it or ignore it, but the next job has to run, and
no descriptor and no box may be left of what was said before.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coderunner.engines.linux.boxes import protocol
from coderunner.workspace import remove_tree
from tests.properties.effort import examples
from tests.properties.line import LIMITS, Line, descriptors, open_line
from tests.support import require_sandbox

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def line() -> Iterator[Line]:
    require_sandbox()
    with open_line() as line:
        yield line


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workspace")


@contextlib.contextmanager
def survived(line: Line, workspace: Path) -> Iterator[None]:
    before = line.holdings()
    yield
    answer = line.run(line.job("/bin/true"), workspace)
    assert (answer["op"], answer.get("exit_code")) == ("ended", 0), answer
    assert line.holds_only(before), (before, line.holdings())


# NaN and Infinity are no JSON, but Python writes and reads them.
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from([10**400, -1, 0, 1 << 63, 1e308, float("nan"), float("inf")])
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=10,
)


@examples(60)
@given(st.binary(max_size=300))
@example(b"")
@example(b"null")
@example(b"[" * 100_000)
@example(b'{"op":' * 20_000)
@example(b'{"op":"start","id":1,"argv":["' + b"x" * 190_000)
@example(b"1" * 10_000)
def test_bytes(line: Line, workspace: Path, packet: bytes) -> None:
    with survived(line, workspace), descriptors(workspace) as fds:
        line.say(packet, fds)


@examples(60)
@given(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["start", "kill", "signal", "hello", "x"]) | anything},
        optional=dict.fromkeys(("id", "reason", "signal", "limits"), anything),
    )
)
def test_messages_without_meaning(line: Line, workspace: Path, message: dict[str, Any]) -> None:
    with survived(line, workspace), descriptors(workspace) as fds:
        line.say(json.dumps(message).encode(), fds)


@examples(30)
@given(sent=st.lists(anything, max_size=8))
@example(sent=[1 << 70, -9, 0, True, 65, "9", [15], None])
def test_signals_without_meaning(line: Line, workspace: Path, sent: list[Any]) -> None:
    job = line.job("/bin/sleep", "60")
    with survived(line, workspace):
        with descriptors(workspace) as fds:
            line.say(json.dumps(job).encode(), fds)
        for number in (*sent, 18, 15):  # SIGCONT, and what ends it
            line.say(json.dumps({"op": "signal", "id": job["id"], "signal": number}).encode())
        assert line.hear_of(job["id"])["ended_by"] == "signal"


def attempt(line: Line, workspace: Path, job: dict[str, Any]) -> dict[str, Any]:
    with survived(line, workspace):
        with descriptors(workspace) as fds:
            line.say(json.dumps(job).encode(), fds)
        return line.hear_of(job["id"])


@examples(60)
@given(data=st.data(), field=st.sampled_from(["argv", "env", "mounts", "limits", "collect"]))
def test_a_job_with_one_wrong_field(
    line: Line, workspace: Path, data: st.DataObject, field: str
) -> None:
    job = line.job("/bin/true")
    right = job[field]
    job[field] = data.draw(anything.filter(lambda value: type(value) is not type(right)))
    if data.draw(st.booleans()):
        del job[field]
    answer = attempt(line, workspace, job)
    assert (answer["op"], answer["kind"]) == ("failed", "engine")
    assert field in answer["message"]


@examples(60)
@given(name=st.sampled_from([*LIMITS, "open_files"]), value=anything)
@example(name="wall_ms", value=float("nan"))
@example(name="wall_ms", value=10**400)
@example(name="memory_mb", value=None)
@example(name="cpu_ms", value=1 << 62)
@example(name="cpus", value=1e300)
def test_a_job_with_one_wrong_limit(line: Line, workspace: Path, name: str, value: Any) -> None:
    job = line.job("/bin/true")
    job["limits"][name] = value
    answer = attempt(line, workspace, job)
    if value is not None and not (type(value) in (int, float) and 0 <= value < 1 << 63):
        assert (answer["op"], answer["kind"]) == ("failed", "engine")


@pytest.mark.parametrize(
    "changes",
    [
        {"argv": ["/bin/echo", "é" * 70_000]},  # fits into its packet, but not when escaped
        {"argv": ["/bin/\0"]},
        {"argv": [""]},
        {"env": {"": "x", "=": "", "a=b": "\0"}},
        {"mounts": [["/" + "é" * 60_000, "/x", False]]},
        {"mounts": [["/usr", "", True], ["/usr/bin", "\0", False]]},
    ],
    ids=["endless", "nul", "nameless", "environment", "endless mount", "mounts"],
)
def test_jobs_that_cannot_be(line: Line, workspace: Path, changes: dict[str, Any]) -> None:
    job = line.job("/bin/true", **changes)
    with survived(line, workspace):
        with descriptors(workspace) as fds:
            line.say(json.dumps(job, ensure_ascii=False).encode(), fds)
        answer = line.hear_of(job["id"])
    assert answer["op"] in ("failed", "ended")
    assert len(answer.get("message", "")) <= 2000


def a_socket() -> int:
    return socket.socket(socket.AF_UNIX).detach()


def a_path() -> int:
    return os.open("/proc/self/root", os.O_PATH | os.O_CLOEXEC)


def a_memfd() -> int:
    return os.memfd_create("x", os.MFD_CLOEXEC)


def a_pipe_without_reader() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


KINDS: list[Callable[[], int]] = [a_socket, a_path, a_memfd, a_pipe_without_reader]


@examples(30)
@given(kinds=st.lists(st.sampled_from(KINDS), max_size=8))
def test_descriptors_of_any_kind_and_number(
    line: Line, workspace: Path, kinds: list[Callable[[], int]]
) -> None:
    job = line.job("/bin/true")
    with survived(line, workspace):
        send_and_close(line, job, [kind() for kind in kinds])
        answer = line.hear_of(job["id"])
    # None of them is a directory, so there is no workspace to be had.
    assert (answer["op"], answer["kind"]) == ("failed", "engine")


@examples(20)
@given(kinds=st.tuples(*[st.sampled_from(KINDS)] * 3))
def test_odd_streams_with_a_good_workspace(
    line: Line, workspace: Path, kinds: Sequence[Callable[[], int]]
) -> None:
    job = line.job("/bin/true")
    directory = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with survived(line, workspace):
        send_and_close(line, job, [*(kind() for kind in kinds), directory])
        answer = line.hear_of(job["id"])
    assert answer["op"] == "ended"


def send_and_close(line: Line, job: dict[str, Any], fds: list[int]) -> None:
    line.say(protocol.encode(job), fds)
    protocol.close_all(fds)


@examples(20)
@given(others=st.lists(st.sampled_from(["start", "start without fds", "kill"]), max_size=6))
def test_an_id_that_is_taken(line: Line, workspace: Path, others: list[str]) -> None:
    """The first job keeps it, and gets the one answer there is."""
    job = line.job("/bin/sleep", "60")
    with survived(line, workspace):
        with descriptors(workspace) as fds:
            line.say(protocol.encode(job), fds)
            for other in others:
                again = line.job("/bin/true", id=job["id"])
                match other:
                    case "start":
                        line.say(protocol.encode(again), fds)
                    case "start without fds":
                        line.say(protocol.encode(again))
                    case "kill":
                        line.say(protocol.encode({"op": "kill", "id": job["id"] + 1000}))
        line.say(protocol.encode({"op": "kill", "id": job["id"], "reason": "killed"}))
        answer = line.hear()
    assert (answer["id"], answer["op"], answer["ended_by"]) == (job["id"], "ended", "killed")


@examples(15)
@given(reason=anything)
def test_a_kill_with_any_reason_kills(line: Line, workspace: Path, reason: object) -> None:
    job = line.job("/bin/sleep", "60")
    with survived(line, workspace):
        with descriptors(workspace) as fds:
            line.say(protocol.encode(job), fds)
        line.say(json.dumps({"op": "kill", "id": job["id"], "reason": reason}).encode())
        answer = line.hear_of(job["id"])
    assert answer["op"] in ("ended", "failed")


def test_a_workspace_too_deep_to_copy(line: Line, tmp_path: Path) -> None:
    deep = tmp_path / "deep"
    deep.mkdir()
    fd = os.open(deep, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=fd)
        inner = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)
    empty = tmp_path / "empty"
    empty.mkdir()
    job = line.job("/bin/true")
    job["limits"]["files"] = 5000
    with survived(line, empty):
        answer = line.run(job, deep)
    remove_tree(deep)
    assert answer["op"] == "failed"

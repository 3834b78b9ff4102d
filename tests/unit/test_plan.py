"""A plan is written down once and played by two: in Python, and compiled."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from coderunner.engines.linux.boxes import player, process1, protocol
from coderunner.engines.linux.boxes.kernel import AT_FDCWD, MACHINE
from coderunner.engines.linux.boxes.making import plan_file
from coderunner.engines.linux.boxes.plan import Plan, Slot
from coderunner.engines.linux.boxes.stages import CHANNEL
from hatch_build import compile_process1
from tests.support import leave_out

pytestmark = pytest.mark.unit

BOXES = Path(process1.__file__).parent
Play = Callable[[bytes], str]


def require_compiled() -> None:
    if process1.program() is None:
        leave_out("process 1 of a box is not compiled", fix="apt-get install gcc libc6-dev")


def play_compiled(packet: bytes) -> str:
    """What it says of the plan: nothing, or why it failed."""
    require_compiled()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    actions = [(os.POSIX_SPAWN_DUP2, theirs.fileno(), CHANNEL)]
    pid = os.posix_spawn(process1.PROGRAM, [process1.PROGRAM], {}, file_actions=actions)
    theirs.close()
    with ours:
        with plan_file(packet) as file:
            protocol.send(ours, b"plan", [file])
        report = json.loads(ours.recv(1 << 16))
    os.waitpid(pid, 0)
    assert report.get("ready") or report["failed"]
    return str(report.get("failed", ""))


def play_in_python(packet: bytes) -> str:
    try:
        player.play(packet)
    except player.Failed as error:
        return str(error)
    return ""


@pytest.fixture(params=[play_in_python, play_compiled])
def play(request: pytest.FixtureRequest) -> Play:
    played: Play = request.param
    return played


@pytest.fixture
def plan() -> Plan:
    plan = Plan(MACHINE)
    plan.stage("test")
    return plan


def test_calls_are_made_in_order_with_what_earlier_ones_returned(
    plan: Plan, play: Play, tmp_path: Path
) -> None:
    plan.make_directory(f"{tmp_path}/new")
    fd = plan.open(1, f"{tmp_path}/new/file", os.O_CREAT | os.O_WRONLY)
    plan.call("write", fd, "some words", 4)
    plan.call("close", fd)
    plan.write(f"{tmp_path}/new/file", "more")
    assert play(plan.template().content) == ""
    assert (tmp_path / "new/file").read_text() == "more"


def test_the_first_failure_ends_it_and_is_named(plan: Plan, play: Play, tmp_path: Path) -> None:
    plan.make_directory(f"{tmp_path}/no/such")
    plan.make_directory(f"{tmp_path}/never")
    assert play(plan.template().content) == f"test: {tmp_path}/no/such: No such file or directory"
    assert list(tmp_path.iterdir()) == []


def test_a_failure_that_is_expected_is_none(plan: Plan, play: Play, tmp_path: Path) -> None:
    plan.make_directory(str(tmp_path), there=True)
    assert play(plan.template().content) == ""


def test_another_failure_than_that_is_one(plan: Plan, play: Play) -> None:
    plan.make_directory("/no/such/directory", there=True)
    assert "No such file" in play(plan.template().content)


@pytest.mark.parametrize(
    ("path", "told"), [("there", ""), ("new", "nobody minds"), ("no/such", "No such file")]
)
def test_what_must_be_refused(plan: Plan, play: Play, tmp_path: Path, path: str, told: str) -> None:
    (tmp_path / "there").mkdir()
    directory = f"{tmp_path}/{path}"
    plan.refused("mkdirat", AT_FDCWD, directory, 0o700, by=errno.EEXIST, about="a wall")
    said = play(plan.template().content)
    assert (said == "") if not told else (said.startswith("test: a wall: ") and told in said)


@pytest.mark.parametrize(
    ("endings", "times", "missing"),
    [
        (["one", "b:\\ttwo"], 1, ""),
        (["one", "ne", "c:"], 1, ""),
        (["a: on"], 1, "a: on"),
        (["one"], 2, "one"),
        (["three"], 2, ""),
        (["three"], 1, "three"),
        (["one", "four"], 1, "four"),
    ],
)
def test_endings(
    plan: Plan, play: Play, tmp_path: Path, endings: list[str], times: int, missing: str
) -> None:
    endings = [text.replace("\\t", "\t") for text in endings]
    (tmp_path / "file").write_text("a: one\nb:\ttwo\nc:\nd: three\ne: three\n")
    plan.endings(f"{tmp_path}/file", endings, times)
    assert (f"does not say '{missing}'" in play(plan.template().content)) == bool(missing)


def test_a_link_that_must_lead_elsewhere(plan: Plan, play: Play, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("there")
    plan.elsewhere(f"{tmp_path}/link", "here", "the link")
    assert play(plan.template().content) == ""
    plan.elsewhere(f"{tmp_path}/link", "there", "the link")
    assert play(plan.template().content) == "test: the link: it is that of the spawner"


def test_slots_are_filled_box_by_box(plan: Plan, play: Play, tmp_path: Path) -> None:
    plan.call("mkdirat", AT_FDCWD, Slot("path", 200), Slot("mode"))
    template = plan.template()
    for mode in (0o700, 0o500):
        path = tmp_path / f"with-{mode:o}"
        assert play(template.fill({"path": str(path), "mode": mode})) == ""
        assert path.stat().st_mode & 0o777 == mode


def test_a_text_that_finds_no_room_is_refused(plan: Plan) -> None:
    plan.call("mkdirat", AT_FDCWD, Slot("path", 8), 0o700)
    with pytest.raises(ValueError, match="longer than 7 bytes"):
        plan.template().fill({"path": "12345678"})


@pytest.mark.parametrize("source", ["process1.c", "player.c", "boxes.c", "warm/ending.c"])
def test_it_compiles_without_a_warning(tmp_path: Path, source: str) -> None:
    require_compiled()
    strict = ["cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    strict += ["-Wno-sign-conversion", "-c", "-o", str(tmp_path / "object")]
    done = subprocess.run([*strict, BOXES / source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_one_of_another_version_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_compiled()
    shutil.copytree(BOXES, tmp_path, dirs_exist_ok=True)
    header = (BOXES / "process1.h").read_text()
    (tmp_path / "process1.h").write_text(header.replace("#define VERSION ", "#define VERSION 9"))
    assert compile_process1(tmp_path)
    monkeypatch.setattr(process1, "LIBRARY", str(tmp_path / "libboxes.so"))
    assert process1.library.__wrapped__() is None
    monkeypatch.setattr(process1, "LIBRARY", str(BOXES / "libboxes.so"))
    assert process1.library.__wrapped__() is not None


@pytest.mark.parametrize("command", ["cc -g0", "env LANG=C cc", "  "])
def test_a_compiler_may_have_options_or_a_wrapper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    require_compiled()
    shutil.copytree(BOXES, tmp_path, dirs_exist_ok=True)
    (tmp_path / "process1").unlink()
    monkeypatch.setenv("CC", command)
    assert compile_process1(tmp_path)
    assert (tmp_path / "process1").exists()


@pytest.mark.parametrize("command", ["no-such-compiler", "no-such-compiler -m64", "cc 'open"])
def test_without_a_compiler_nothing_breaks(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    monkeypatch.setenv("CC", command)
    assert not compile_process1(tmp_path)
    assert "hint: install a C compiler" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []

"""Collecting what a program left: only regular files, only inside, only so much."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from coderunner.errors import InvalidInput
from coderunner.workspace import (
    CollectedFile,
    Collection,
    Workspace,
    collect,
)
from coderunner.workspace import collection as collection_module
from coderunner.workspace.patterns import Matcher

pytestmark = pytest.mark.unit


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    (tmp_path / "work").mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    fd = os.open(tmp_path / "work", os.O_RDONLY)
    yield tmp_path / "work", fd
    os.close(fd)


def contents(found: Collection) -> dict[str, bytes]:
    return {file.name: file.content for file in found.files}


def reasons(found: Collection) -> dict[str, str]:
    return {skipped.name: skipped.reason for skipped in found.skipped}


def test_collect_by_pattern(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    for name in ("program", "A.class", "p/B.class", "p/q/C.class", "build/x", "build/y/z", "other"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(name.encode())

    def names(*patterns: str) -> list[str]:
        return sorted(contents(collect(fd, patterns)))

    assert names("program") == ["program"]
    assert names("*.class") == ["A.class"]
    assert names("**/*.class") == ["A.class", "p/B.class", "p/q/C.class"]
    assert names("build/**") == ["build/x", "build/y/z"]
    assert names("program", "p/*.class") == ["p/B.class", "program"]
    assert names("**") == sorted(
        ["A.class", "build/x", "build/y/z", "other", "p/B.class", "p/q/C.class", "program"]
    )
    assert names("build", "nothing", "PROGRAM") == []


def test_collect_keeps_the_executable_bit(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    (work / "a").write_bytes(b"1")
    (work / "b").write_bytes(b"2")
    (work / "a").chmod(0o755)
    assert collect(fd, ["*"]).files == (
        CollectedFile("a", b"1", executable=True),
        CollectedFile("b", b"2", executable=False),
    )


def test_collect_takes_only_regular_files(
    hostile: tuple[Path, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, fd = hostile
    (work / "symlink").symlink_to(tmp_path / "secret")
    (work / "directory-link").symlink_to(tmp_path)
    (work / "self").symlink_to(work)
    os.mkfifo(work / "fifo")
    monkeypatch.chdir(work)  # a socket's path may have only 107 bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    (work / "real").write_bytes(b"x")
    found = collect(fd, ["**"])
    assert contents(found) == {"real": b"x"}
    assert reasons(found) == {
        "symlink": "a symbolic link",
        "directory-link": "a symbolic link",
        "self": "a symbolic link",
        "fifo": "a named pipe",
        "socket": "a socket",
    }


@pytest.mark.as_root
def test_collect_skips_devices(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    os.mknod(work / "zero", 0o666 | 0o020000, os.makedev(1, 5))
    assert reasons(collect(fd, ["*"])) == {"zero": "a device"}


def test_collect_does_not_enter_a_symlinked_directory(
    hostile: tuple[Path, int], tmp_path: Path
) -> None:
    work, fd = hostile
    (work / "build").symlink_to(tmp_path)
    found = collect(fd, ["build/**"])
    assert found.files == ()
    assert reasons(found) == {"build": "a symbolic link"}


def test_collect_is_not_fooled_when_a_file_changes_its_kind(
    hostile: tuple[Path, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the program swapped the file between the look at it and its opening."""
    work, fd = hostile
    (work / "real").write_bytes(b"x")
    real = os.stat(work / "real")
    (work / "link").symlink_to(tmp_path / "secret")
    (work / "dir").symlink_to(tmp_path)
    os.mkfifo(work / "fifo")
    monkeypatch.setattr(os, "stat", lambda *_, **__: real)
    found = collect(fd, ["**"])
    assert contents(found) == {"real": b"x"}
    assert set(reasons(found)) == {"link", "dir", "fifo"}


def test_a_sparse_terabyte_costs_nothing(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    with (work / "huge").open("wb") as file:
        file.truncate(1 << 40)
    (work / "small").write_bytes(b"x")
    found = collect(fd, ["*"], max_bytes=1000)
    assert contents(found) == {"small": b"x"}
    assert "1099511627776 bytes" in reasons(found)["huge"]


def test_collect_caps_bytes_in_total(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    for name in "abc":
        (work / name).write_bytes(bytes(40))
    found = collect(fd, ["*"], max_bytes=80)
    assert list(contents(found)) == ["a", "b"]
    assert list(reasons(found)) == ["c"]


def test_collect_notices_a_file_that_is_longer_than_it_says(
    hostile: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    work, fd = hostile
    (work / "small").touch()
    empty = os.stat(work / "small")
    (work / "small").write_bytes(bytes(101))
    monkeypatch.setattr(os, "fstat", lambda _: empty)
    assert collect(fd, ["*"], max_bytes=100).files == ()
    assert len(collect(fd, ["*"], max_bytes=101).files) == 1


def test_collect_caps_files_and_the_list_of_what_it_skipped(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    for number in range(300):
        (work / f"{number:03}").touch()
    found = collect(fd, ["*"], max_files=5)
    assert list(contents(found)) == ["000", "001", "002", "003", "004"]
    assert len(found.skipped) == 100
    assert found.skipped_count == 295


def test_collect_caps_entries(hostile: tuple[Path, int], monkeypatch: pytest.MonkeyPatch) -> None:
    work, fd = hostile
    monkeypatch.setattr(collection_module, "MAX_ENTRIES", 50)
    for number in range(60):
        (work / f"{number}").touch()
    found = collection_module._Walk(1000, 1000, entries_left=50)
    found.directory(fd, "", Matcher(["*"]), 0)
    assert len(found.files) == 50
    assert found.skipped[0].reason == "more than 50 entries"


def test_collect_caps_depth_and_leaves_no_fd(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    (work / "/".join("d" * 40)).mkdir(parents=True)
    (work / "/".join("d" * 40) / "file").touch()
    (work / "/".join("d" * 32) / "file").touch()
    before = os.listdir("/proc/self/fd")
    found = collect(fd, ["**"])
    assert os.listdir("/proc/self/fd") == before
    assert list(contents(found)) == ["d/" * 32 + "file"]
    assert list(reasons(found)) == ["/".join("d" * 33)]


def test_collect_names_that_are_not_utf8(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    (work / os.fsdecode(b"\xff\n\x1b[31m")).write_bytes(b"x")
    (found,) = collect(fd, ["*"]).files
    assert found.name == "\udcff\n\x1b[31m"
    with Workspace() as workspace:
        workspace.add([found])
        assert os.listdir(os.fsencode(workspace.path)) == [b"\xff\n\x1b[31m"]


@pytest.mark.as_user
def test_collect_says_what_it_may_not_read(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    (work / "file").touch(mode=0o000)
    (work / "dir").mkdir(mode=0o000)
    assert reasons(collect(fd, ["**"])) == {"file": "permission denied", "dir": "permission denied"}
    (work / "dir").chmod(0o700)


@pytest.mark.parametrize("pattern", ["", "/etc/*", "../*", "a/../b", "a//b", "./a"])
def test_collect_refuses_patterns_that_lead_out(hostile: tuple[Path, int], pattern: str) -> None:
    with pytest.raises(InvalidInput, match="pattern"):
        collect(hostile[1], [pattern])

"""Removing a tree, however hostile it is."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from coderunner.workspace import (
    remove_tree,
)

pytestmark = pytest.mark.unit


@pytest.mark.slow
def test_remove_50_000_deep_directories(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    fd = os.open(top, os.O_RDONLY)
    for _ in range(50_000):
        os.mkdir("d", dir_fd=fd)
        inner = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(os.open("file", os.O_CREAT, dir_fd=fd))
    os.close(fd)
    remove_tree(top)
    assert not top.exists()


def test_remove_wide_and_branching_trees(tmp_path: Path) -> None:
    for a in range(12):
        for b in range(12):
            (tmp_path / "top" / f"{a}" / f"{b}" / "c" / "d").mkdir(parents=True)
            for f in range(5):
                (tmp_path / "top" / f"{a}" / f"{b}" / "c" / f"{f}").touch()
    remove_tree(tmp_path / "top")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o500, 0o100, 0o200])
def test_remove_directories_without_permission_bits(tmp_path: Path, mode: int) -> None:
    deep = tmp_path / "top" / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (deep / "file").touch()
    for directory in (deep, deep.parent, deep.parent.parent, tmp_path / "top"):
        directory.chmod(mode)
    remove_tree(tmp_path / "top")
    assert os.listdir(tmp_path) == []


def test_remove_never_follows_a_symlink(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    os.chmod(outside, 0o755)
    (outside / "precious").touch()
    top = tmp_path / "top"
    (top / "a").mkdir(parents=True)
    (top / "link").symlink_to(outside)
    (top / "a" / "link").symlink_to(outside)
    (top / "a" / "loop").symlink_to(top)
    remove_tree(top)
    assert sorted(os.listdir(tmp_path)) == ["outside"]
    assert os.listdir(outside) == ["precious"]
    assert outside.stat().st_mode & 0o777 == 0o755


def test_remove_a_symlink_to_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(OSError, match="link"):
        remove_tree(tmp_path / "link")
    assert (tmp_path / "real").is_dir()


def test_remove_what_is_not_there_is_fine(tmp_path: Path) -> None:
    remove_tree(tmp_path / "nothing")


def test_remove_odd_names_and_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = os.fsencode(tmp_path / "top")
    os.mkdir(top)
    os.mkdir(top + b"/\xff\n")
    os.close(os.open(top + b"/\xff\n/\xfe", os.O_CREAT))
    os.mkfifo(top + b"/fifo")
    monkeypatch.chdir(tmp_path / "top")  # a socket's path may have only 107 bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    monkeypatch.chdir(tmp_path)
    assert sorted(os.listdir(top)) == [b"fifo", b"socket", b"\xff\n"]
    remove_tree(tmp_path / "top")
    assert os.listdir(tmp_path) == []

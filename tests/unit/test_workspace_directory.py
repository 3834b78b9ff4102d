"""The directory of a workspace: private, never overwritten, gone afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coderunner.errors import InvalidProgram
from coderunner.model import File
from coderunner.workspace import (
    CollectedFile,
    Workspace,
)
from tests.unit.files import named

pytestmark = pytest.mark.unit


def test_a_workspace_is_private_and_gone_afterwards() -> None:
    with Workspace() as workspace:
        assert workspace.path.stat().st_mode & 0o7777 == 0o700
        assert workspace.path.parent.stat().st_mode & 0o7777 == 0o700
        workspace.add([File("a/b/c.txt", b"\xff\x00")])
    assert not workspace.path.exists()
    workspace.remove()


def test_modes_do_not_depend_on_the_umask() -> None:
    before = os.umask(0o077)
    try:
        with Workspace() as workspace:
            workspace.add([File("d/source", b""), CollectedFile("program", b"", executable=True)])
            workspace.add([File("tool", b"")], mode=0o755)
            modes = {
                name: (workspace.path / name).stat().st_mode & 0o777
                for name in ("d", "d/source", "program", "tool")
            }
    finally:
        os.umask(before)
    assert modes == {"d": 0o755, "d/source": 0o644, "program": 0o755, "tool": 0o755}


def test_files_are_never_overwritten_nor_symlinks_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"precious")
    with Workspace() as workspace:
        (workspace.path / "link").symlink_to(tmp_path / "target")
        (workspace.path / "dir").symlink_to(tmp_path)
        workspace.add(named("a"))
        for name in ("a", "link", "dir/target", "dir/new", "a/b"):
            with pytest.raises(InvalidProgram):
                workspace.add([File(name, b"evil")])
    assert (tmp_path / "target").read_bytes() == b"precious"
    assert os.listdir(tmp_path) == ["target"]


def test_many_workspaces_leave_no_fd() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        with Workspace() as workspace:
            workspace.add(named("a/b", "c"))
    assert len(os.listdir("/proc/self/fd")) <= before + 1  # the root's lock
    assert os.listdir(workspace.path.parent) == []

"""A job's own copies of its files, where nothing can hide them from it.

    <workspace>/work      copy of the job's workspace: its working directory
    <workspace>/home      HOME
    <workspace>/tmp       TMPDIR
    <workspace>/mounts/0  copy of its first scratch mount …

A box shows a mount at its target. Ordinary processes share one view of the file system, so here
the job is told the real place instead: in its arguments and environment, a path that begins with
a mount's target is rewritten to begin with the mount's source, or, for a scratch mount, with the
copy's path. A program that has the target compiled in will not find it.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from coderunner.model import Job, Mount
from coderunner.workspace import Workspace, copy_in


class Scratch:
    def __init__(self) -> None:
        self._workspace = Workspace()
        self.work = self._workspace.path / "work"
        self._moved: list[tuple[re.Pattern[str], str]] = []

    def fill(self, job: Job) -> None:
        copy_in(job.workspace, self.work)
        self.work.chmod(0o700)
        for name in ("home", "tmp"):
            (self._workspace.path / name).mkdir(mode=0o700)
        moved = [
            (mount.target, self._place(mount, number)) for number, mount in enumerate(job.mounts)
        ]
        # The most specific target first: /a/b before /a.
        for target, place in sorted(moved, key=lambda pair: -len(pair[0])):
            if target != place:
                self._moved.append((_path_pattern(target), place))

    def argv(self, job: Job) -> list[str]:
        return [self._rewritten(text) for text in job.argv]

    def env(self, job: Job) -> dict[str, str]:
        env = {name: self._rewritten(text) for name, text in job.env.items()}
        home, tmp = self._workspace.path / "home", self._workspace.path / "tmp"
        return env | {"HOME": str(home), "TMPDIR": str(tmp)}

    def remove(self) -> None:
        self._workspace.remove()

    def _place(self, mount: Mount, number: int) -> str:
        if not mount.scratch:
            return str(mount.source)
        copy = self._workspace.path / "mounts" / str(number)
        copy.parent.mkdir(exist_ok=True)
        _copy(mount.source, copy)
        return str(copy)

    def _rewritten(self, text: str) -> str:
        for pattern, place in self._moved:
            text = pattern.sub(lambda _, place=place: place, text)  # type: ignore[misc]
        return text


def _copy(source: Path, copy: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, copy, symlinks=True)
        os.chmod(copy, 0o700)
    else:
        shutil.copy2(source, copy)


def _path_pattern(target: str) -> re.Pattern[str]:
    """The path itself, alone or in a list (PATH) or after a `=`, but not inside another path."""
    return re.compile(rf"(?<![^:=,\s]){re.escape(target.rstrip('/'))}(?=[/:,\s]|$)")

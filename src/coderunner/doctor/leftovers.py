"""What is still there when everything should be gone."""

from __future__ import annotations

import contextlib
import glob
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from coderunner.workspace.root import process_root


def end_survivors(token: str) -> list[int]:
    """Processes of this machine that carry the token on their command line. They should not
    exist, so they are ended."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if token.encode() in Path("/proc", name, "cmdline").read_bytes().split(b"\0"):
                found.append(int(name))
                os.kill(int(name), signal.SIGKILL)
    return found


@dataclass(frozen=True)
class Traces:
    """What this process holds at one moment."""

    children: frozenset[int]
    descriptors: int
    files: frozenset[str]
    cgroups: frozenset[str]

    @classmethod
    def now(cls, spawners: frozenset[int] = frozenset()) -> Traces:
        files = frozenset(os.listdir(process_root()))  # first: making the root opens a descriptor
        children = _children()
        return cls(
            children=children,
            descriptors=len(os.listdir("/proc/self/fd")),
            files=files,
            cgroups=_cgroups_of(children | spawners),
        )

    def left_since(self, before: Traces) -> list[str]:
        """In words, what is here now and was not then."""
        words = [f"process {pid}" for pid in sorted(self.children - before.children)]
        words += [f"file {name}" for name in sorted(self.files - before.files)]
        words += [f"cgroup {path}" for path in sorted(self.cgroups - before.cgroups)]
        if self.descriptors > before.descriptors:
            words.append(f"{self.descriptors - before.descriptors} open descriptors")
        return words


def _children() -> frozenset[int]:
    pids: set[int] = set()
    for path in glob.glob("/proc/self/task/*/children"):
        with contextlib.suppress(OSError):
            pids.update(map(int, Path(path).read_text().split()))
    return frozenset(pids)


def _cgroups_of(spawners: frozenset[int]) -> frozenset[str]:
    """A spawner's cgroups carry its pid in their name."""
    patterns = [f"/sys/fs/cgroup/**/coderunner-{pid}-*" for pid in spawners]
    return frozenset(path for pattern in patterns for path in glob.glob(pattern, recursive=True))

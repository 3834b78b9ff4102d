"""The command lines of other sandboxes, for the same job as a box of ours.

bubblewrap and nsjail: all namespaces, a read-only system, private /proc and /tmp, no capabilities.
isolate: its default walls. What they leave out is in their favour: no system-call filter, no memory
limit, no meters, no copy of the workspace.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coderunner.model import Mount

WORKSPACE = "/workspace"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ALTERNATIVES = "/etc/alternatives"  # where Debian's /usr/bin/cc leads
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")

Argv = tuple[str, ...]


class Missing(Exception):
    """A contender or a whole row cannot be had on this machine; `fix` is the way to get it."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(reason)
        self.fix = fix


@dataclass(frozen=True)
class Inside:
    """A command and what must be there for it. In its words `{folder}` is the directory it works
    in, wherever that is."""

    argv: Sequence[str]
    folder: Path
    env: Mapping[str, str]
    mounts: Sequence[Mount] = ()
    writable: Sequence[str] = ()  # directories of the host that it may write to

    def words(self, folder: str) -> Argv:
        return tuple(word.replace("{folder}", folder) for word in self.argv)

    @property
    def writes(self) -> bool:
        """Whether it may write to its folder."""
        return str(self.folder) in self.writable


@dataclass(frozen=True)
class Commands:
    """What to call for one run. `{box}` in it is a number that no other run has at that time."""

    main: Argv
    env: Mapping[str, str]  # that they are called with
    before: Argv = ()
    after: Argv = ()


Sandbox = Callable[[Inside], Commands]


def bare(inside: Inside) -> Commands:
    return Commands(inside.words(str(inside.folder)), inside.env)


def bubblewrap(bwrap: str, inside: Inside) -> Commands:
    read_only = [(str(mount.source), mount.target) for mount in inside.mounts]
    own = "--bind" if inside.writes else "--ro-bind"
    return Commands(
        (
            bwrap,
            *("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            *_links_and_directories(),
            *("--ro-bind-try", _ALTERNATIVES, _ALTERNATIVES),
            *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
            *(word for pair in read_only for word in ("--ro-bind", *pair)),
            *(word for path in _beside(inside) for word in ("--bind", path, path)),
            *(own, str(inside.folder), WORKSPACE, "--chdir", WORKSPACE),
            *inside.words(WORKSPACE),
        ),
        inside.env,  # which it hands on
    )


def nsjail(program: str, inside: Inside) -> Commands:
    shown = [
        *((path, path) for path in (*_system(), *_DEVICES)),
        *((str(mount.source), mount.target) for mount in inside.mounts),
        (str(inside.folder), WORKSPACE),
    ]
    return Commands(
        (
            program,
            *("-Mo", "--quiet", "--user", "65534", "--group", "65534"),
            *("--rlimit_as", "inf", "--rlimit_fsize", "inf", "--rlimit_nofile", "1024"),
            *(word for pair in shown for word in ("-R", ":".join(pair))),
            *("-T", "/tmp", "-D", WORKSPACE),
            *(word for name, value in inside.env.items() for word in ("-E", f"{name}={value}")),
            "--",
            *inside.words(WORKSPACE),
        ),
        os.environ,
    )


def isolate(program: str, inside: Inside) -> Commands:
    """A box is made, used and removed, since a fresh one is what everybody else gives."""
    box = (program, "--box-id={box}", "--silent")
    shown = [(mount.target, str(mount.source)) for mount in inside.mounts]
    shown.append((WORKSPACE, str(inside.folder)))
    return Commands(
        env=os.environ,
        before=(*box, "--init"),
        main=(
            *box,
            "--processes=256",
            *(f"--dir={target}={source}" for target, source in shown),
            *(f"--env={name}={value}" for name, value in inside.env.items()),
            f"--chdir={WORKSPACE}",
            "--run",
            "--",
            *inside.words(WORKSPACE),
        ),
        after=(*box, "--cleanup"),
    )


def find(name: str, fix: str) -> str:
    program = shutil.which(name)
    if program is None:
        raise Missing(f"there is no {name} on PATH", fix)
    return program


def _beside(inside: Inside) -> Iterable[str]:
    return (path for path in inside.writable if path != str(inside.folder))


def _system() -> list[str]:
    return [path for path in _SYSTEM if os.path.isdir(path)]


def _links_and_directories() -> Iterator[str]:
    """The system directories as they are here: a real one is mounted, a link stays a link."""
    for path in _system():
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        else:
            yield from ("--ro-bind", path, path)

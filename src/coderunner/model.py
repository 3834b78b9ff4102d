"""The nouns: what goes in (Program, Limits), what an engine understands (Job), what comes out
(Outcome, Result). Plain frozen data; nothing here does any I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from coderunner.errors import InvalidInput, InvalidLimits

if TYPE_CHECKING:
    from coderunner.workspace.bundle import Bundle
    from coderunner.workspace.collection import Skipped

MIB = 1024 * 1024


class Isolation(StrEnum):
    """How well a run was shut in, from weakest to strongest."""

    NONE = "none"  # at least one wall is missing
    SAMPLED = "sampled"  # all walls; memory, cpu and processes watched by sampling
    FULL = "full"  # all walls; memory, cpu and processes held by the kernel (cgroup)
    VM = "vm"  # a kernel of its own

    @property
    def rank(self) -> int:
        return list(Isolation).index(self)

    def at_least(self, other: Isolation) -> bool:
        return self.rank >= other.rank


class EndedBy(StrEnum):
    """The physical reason a process tree stopped."""

    EXIT = "exit"  # it returned from main or called exit
    SIGNAL = "signal"  # it was killed by a signal of its own making (a crash, abort, kill)
    WALL_TIME = "wall_time"
    CPU_TIME = "cpu_time"
    MEMORY = "memory"
    PROCESSES = "processes"
    OUTPUT = "output"  # it wrote more than `flood_bytes` to one stream
    KILLED = "killed"  # the caller asked for it


class Stream(StrEnum):
    STDOUT = "stdout"
    STDERR = "stderr"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use. Every field carries its unit, none is ever silently ignored."""

    wall_ms: int = 10_000
    cpu_ms: int | None = None  # cpu time of the whole tree; None: only wall time counts
    memory_mb: int = 256  # the whole tree, files in memory (/tmp, workspace) included
    processes: int = 256  # processes and threads alive at once
    output_bytes: int = 1 * MIB  # kept of each stream: its head and its tail
    flood_bytes: int = 64 * MIB  # written to one stream before the run is ended
    disk_mb: int = 64  # everything written to files, and the largest single file
    files: int = 10_000  # files and directories that may exist at once
    open_files: int = 1024
    stack_mb: int = 64
    cpus: float | None = None  # cores' worth of cpu per second; None: no throttle
    address_space_mb: int | None = None  # RLIMIT_AS; breaks JVM, Go and Node, so off by default

    def __post_init__(self) -> None:
        for item in fields(self):
            _check_limit(item.name, getattr(self, item.name), str(item.type))

    def but(self, changes: Mapping[str, Any]) -> Limits:
        """These limits with some fields changed."""
        return replace(self, **changes)

    def capped(self, ceiling: Limits) -> Limits:
        """These limits, lowered to the ceiling where they are above it or there is none."""
        pairs = ((i.name, getattr(self, i.name), getattr(ceiling, i.name)) for i in fields(self))
        return self.but(
            {
                name: most if value is None else min(value, most)
                for name, value, most in pairs
                if most is not None
            }
        )

    def check_below(self, ceiling: Limits, *, setting: str = "CODERUNNER_CEILING") -> None:
        """Raise unless every limit is at most the ceiling's. `setting` is where that comes from."""
        for item in fields(self):
            value, most = getattr(self, item.name), getattr(ceiling, item.name)
            if value is not None and most is not None and value > most:
                raise InvalidLimits(
                    f"{item.name}={value} is above the configured ceiling of {most}",
                    hint=f"ask for less, or set {setting}__{item.name.upper()}",
                )


# More than any machine has, and no more than every kernel can count.
_MOST = 10**12
_MOST_OF = {"processes": 4_000_000, "cpus": 1_000_000}


def _check_limit(name: str, value: object, annotation: str) -> None:
    if value is None and "None" in annotation:
        return
    wanted = (int, float) if "float" in annotation else (int,)
    if isinstance(value, bool) or not isinstance(value, wanted):
        kind = "a number" if float in wanted else "a whole number"
        raise InvalidLimits(f"{name} must be {kind}, not {repr(value)[:80]}")
    most = _MOST_OF.get(name, _MOST)
    if value > most:
        raise InvalidLimits(f"{name} must be at most {most}")
    if not value > 0:  # or it is not a number at all
        raise InvalidLimits(f"{name} must be above zero")


@dataclass(frozen=True, slots=True)
class File:
    """One file of a program: a relative path with forward slashes, and its bytes as they are."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Program:
    """What somebody wrote: a language, one or more files (the first source file is the main one),
    the arguments it is started with, and what its environment has beside the usual."""

    language: str
    files: tuple[File, ...]
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)  # of the run, not of the compilation


@dataclass(frozen=True, slots=True)
class Mount:
    """A host directory or file that a job may see at `target`, read-only.

    With `scratch` it looks writable, and what is written to it is thrown away with the run.
    """

    source: Path
    target: str
    scratch: bool = False


@dataclass(frozen=True, slots=True)
class Warm:
    """A job that could do with an interpreter that has started already.

    A wish: an engine that keeps none starts a new one, and nobody can tell but by the clock.
    """

    words: int  # of argv: the interpreter and its own arguments; the rest are the program's
    preload: tuple[str, ...] = ()  # modules that it should have loaded


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal for a program to run in, of this size. It is the program's stdin, stdout and
    stderr in one, so all that it writes comes on stdout, and stderr stays empty."""

    rows: int = 24
    columns: int = 80
    kind: str = "xterm-256color"  # what the program finds in TERM

    def __post_init__(self) -> None:
        for size in (self.rows, self.columns):
            if type(size) is not int or not 0 < size <= _LARGEST_TERMINAL:
                raise InvalidInput(
                    f"a terminal's rows and columns are from 1 to {_LARGEST_TERMINAL}, "
                    f"not {repr(size)[:80]}"
                )
        if type(self.kind) is not str or not _KIND_OF_TERMINAL.fullmatch(self.kind):
            raise InvalidInput(
                f"no kind of terminal is called {repr(self.kind)[:80]}",
                hint="it is what TERM says, such as xterm-256color",
            )


_LARGEST_TERMINAL = 0xFFFF  # as the kernel counts them
_KIND_OF_TERMINAL = re.compile("[!-~]{1,64}")


Directory = Literal["/workspace", "/tmp"]
WORKSPACE: Directory = "/workspace"


@dataclass(frozen=True, slots=True)
class Job:
    """What an engine understands: a command in a directory, with limits around it.

    `workspace`, a directory or files in memory, is copied in; the copy is the command's working
    directory, writable, and gone afterwards. With `collect` the engine lets the caller read that
    copy once the command ended.
    """

    argv: tuple[str, ...]
    workspace: Path | Bundle
    env: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    limits: Limits = field(default_factory=Limits)
    collect: bool = False
    warm: Warm | None = None
    terminal: Terminal | None = None
    image: str = ""  # what the command is in, for engines that have images; empty: their default
    directory: Directory = WORKSPACE  # where it is, in engines with a root of their own
    label: str = ""  # what people call jobs of this kind, as in the name of a container


@dataclass(frozen=True, slots=True)
class Usage:
    wall_ms: float
    cpu_ms: float
    memory_peak_kb: int


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process tree ended, as its engine saw it. One that was ended for a limit's sake has
    the signal that ended it, or its own exit code if it was faster."""

    ended_by: EndedBy
    exit_code: int | None  # None unless it exited by itself
    signal: int | None  # None unless a signal ended it
    usage: Usage
    warm: bool = False  # in an interpreter that had started before


@dataclass(frozen=True, slots=True)
class Output:
    """What was kept of one stream: all of it, or its head and its tail."""

    head: bytes = b""
    tail: bytes = b""
    dropped: int = 0  # bytes left out between head and tail

    @property
    def data(self) -> bytes:
        return self.head + self.tail

    @property
    def text(self) -> str:
        """The bytes as UTF-8; what is not valid UTF-8 shows as U+FFFD."""
        return self.data.decode("utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The physical facts of one finished process tree. Says nothing about right or wrong."""

    ended_by: EndedBy
    exit_code: int | None
    signal: int | None
    usage: Usage
    stdout: Output
    stderr: Output
    isolation: Isolation
    engine: str
    cached: bool = False  # a compilation that was kept: all of this is of when it really ran
    warm: bool = False  # in an interpreter, or a container, that had started before
    container: str = ""  # the id of the one it ran in, of an engine that has containers

    @property
    def ok(self) -> bool:
        """It ran to its end and exited with 0."""
        return self.ended_by is EndedBy.EXIT and self.exit_code == 0


@dataclass(frozen=True, slots=True)
class Result:
    """A program's way down the road: how its compilation went (None if there was none to do) and
    how its run went (None if it did not compile)."""

    compilation: Outcome | None
    execution: Outcome | None
    files: tuple[File, ...] = ()  # what the run left in its workspace, if that was asked for
    left_out: tuple[Skipped, ...] = ()  # what else matched; the first hundred

    @property
    def outcome(self) -> Outcome:
        """The last thing that happened: the run, or the compilation that failed."""
        last = self.execution or self.compilation
        assert last is not None, "one of the two always happened"
        return last

    @property
    def ok(self) -> bool:
        return self.execution is not None and self.execution.ok

    @property
    def stdout(self) -> str:
        return self.outcome.stdout.text

    @property
    def stderr(self) -> str:
        return self.outcome.stderr.text

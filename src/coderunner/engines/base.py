"""The seam between the road and the machines that drive on it.

An engine starts a job as a fresh, isolated process tree and reports the physical facts of its
end. It knows nothing of languages, tests or verdicts.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from coderunner.model import EndedBy, Exit, Isolation, Job, Stream

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coderunner.language import Language
    from coderunner.notices import Notice
    from coderunner.toolchain import Toolchain


class State(StrEnum):
    """How well one control holds on this machine."""

    ENFORCED = "enforced"
    SAMPLED = "sampled"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Control:
    """One wall or meter: whether it holds, and if not, why and what would change that."""

    name: str
    state: State
    reason: str = ""
    fix: str = ""
    extra: bool = False  # a second wall, behind others: the level stands without it


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do on this machine, found by trying."""

    isolation: Isolation
    controls: tuple[Control, ...]

    def missing(self) -> tuple[Control, ...]:
        return tuple(c for c in self.controls if c.state is State.ABSENT)


class Reader(Protocol):
    """One stream of a running process. `read` gives what there is, and b"" at the end."""

    async def read(self) -> bytes: ...


class ToolchainSource(Protocol):
    """Where the commands of languages are looked for."""

    async def find(self, language: Language) -> Toolchain:
        """Raises ToolchainMissing, with the way to get it."""


class Process(abc.ABC):
    """A running process tree. When `wait` returns, all of it is dead and cleaned up."""

    isolation: Isolation
    container: str = ""  # the id of the one it runs in, of an engine that has containers

    @abc.abstractmethod
    def reader(self, stream: Stream) -> Reader:
        """The live end of one output stream."""

    @abc.abstractmethod
    async def write(self, data: bytes) -> None:
        """Send bytes to stdin; raises BrokenPipeError once nobody reads them any more."""

    @abc.abstractmethod
    def close_stdin(self) -> None: ...

    @abc.abstractmethod
    def kill(self, reason: EndedBy = EndedBy.KILLED) -> None:
        """End the whole tree; `wait` will give this reason unless it had ended already."""

    @abc.abstractmethod
    async def wait(self) -> Exit:
        """How it ended. Raises EngineUnavailable if the engine broke meanwhile."""

    @abc.abstractmethod
    def workspace_fd(self) -> int:
        """After `wait`, for a job with `collect`: a directory fd of what the job left behind.
        It belongs to this process and is closed by `close`."""

    @abc.abstractmethod
    async def close(self) -> None:
        """Kill what still runs and let go of everything. Safe to call twice."""


class Engine(abc.ABC):
    """Starts jobs."""

    name: str

    @abc.abstractmethod
    async def capabilities(self) -> Capabilities: ...

    @abc.abstractmethod
    async def start(self, job: Job) -> Process: ...

    async def warm_up(self, job: Job) -> bool:
        """Make ready for jobs like this one, ahead of the first. False where there is no such
        thing to do."""
        return False

    async def is_warm(self, job: Job) -> bool:
        """Whether something is ready for jobs like this one, and still alive."""
        return False

    async def cool_down(self, job: Job) -> None:  # noqa: B027 - most keep nothing
        """Let go of what is kept ready for jobs like this one."""

    def announce(self, notice: Notice) -> None:  # noqa: B027 - most have no news
        """Whom to tell what takes long before a first run, as fetching an image does."""

    async def sees(self, source: Path, image: str) -> bool:
        """Whether showing this to a job (that runs in this image) costs nothing. Else it has to be
        carried to where jobs run."""
        return True

    def toolchains(self, overrides: Mapping[str, str]) -> ToolchainSource | None:
        """Where its jobs find their commands, unless that is this machine. `overrides` are the
        caller's own choice: tool ids with a path."""
        return None

    async def clean(self) -> list[str]:
        """Remove what processes that are no more have left; says in words what that was."""
        return []

    @abc.abstractmethod
    async def aclose(self) -> None:
        """End everything this engine started and free what it holds."""

"""The seam between the road and the machines that drive on it.

An engine starts a job as a fresh, isolated process tree and reports the physical facts of its
end. It knows nothing of languages, tests or verdicts.
"""

from __future__ import annotations

import abc
import signal
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from coderunner.errors import EngineUnavailable, InvalidInput
from coderunner.model import EndedBy, Exit, Isolation, Job, Stream

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coderunner.language import Language
    from coderunner.notices import Notice
    from coderunner.toolchain import Toolchain


# What a program may be sent. To end it for certain is what `Process.kill` is for.
SIGNALS = frozenset(
    {
        signal.SIGHUP,
        signal.SIGINT,
        signal.SIGQUIT,
        signal.SIGUSR1,
        signal.SIGUSR2,
        signal.SIGTERM,
        signal.SIGWINCH,
    }
)


def check_signal(number: int) -> None:
    if number not in SIGNALS:
        names = ", ".join(sorted(one.name for one in SIGNALS))
        raise InvalidInput(
            f"a program cannot be sent signal {number!r:.20}", hint=f"there are {names}"
        )


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


_OTHER_ENGINE = "the linux engine can"


class Reader(Protocol):
    """One stream of a running process. `read` gives what there is, and b"" at the end."""

    async def read(self) -> bytes: ...


class ToolchainSource(Protocol):
    """Where the commands of languages are looked for."""

    fetches: bool  # finding one may take a download

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
    def close_stdin(self) -> None:
        """The program finds the end of its stdin. To a terminal this types ^D, which means the end
        to whoever reads lines, and is a key like others to the rest."""

    def send_signal(self, number: int) -> None:
        """Send the program itself one of SIGNALS, as soon as it is there; if it is gone, nothing
        happens. In a terminal SIGINT and SIGQUIT go to what runs in the foreground, as ^C does."""
        raise EngineUnavailable("this engine cannot send signals", hint=_OTHER_ENGINE)

    def resize(self, rows: int, columns: int) -> None:
        """Give the program's terminal another size; what runs in the foreground gets SIGWINCH."""
        raise InvalidInput("this program runs in no terminal", hint="start it with one")

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
    signals = False  # whether its processes can be sent some
    terminals = False  # whether jobs may have one

    @abc.abstractmethod
    async def capabilities(self) -> Capabilities: ...

    @abc.abstractmethod
    async def start(self, job: Job) -> Process: ...

    def check_terminal(self, job: Job) -> None:
        """Raise unless a job that wants a terminal can have one."""
        if job.terminal is not None and not self.terminals:
            raise EngineUnavailable(f"the {self.name} engine has no terminals", hint=_OTHER_ENGINE)

    async def warm_up(self, job: Job) -> bool:
        """Make ready for jobs like this one, ahead of the first. False where there is no such
        thing to do."""
        return False

    async def is_warm(self, job: Job) -> bool:
        """Whether something is ready for jobs like this one, and still alive."""
        return False

    async def cool_down(self, job: Job) -> None:  # noqa: B027 - most keep nothing
        """Let go of what is kept ready for jobs like this one."""

    async def let_go_of_idle(self, seconds: float) -> None:  # noqa: B027 - most keep nothing
        """Of all that nobody has used for so long, whatever it is kept for."""

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

"""Every error CodeRunner raises.

    CodeRunnerError
    ├── InvalidInput              the caller asked for something that makes no sense
    │   ├── InvalidProgram        no files, an unsafe file name, two files of one name
    │   ├── InvalidLimits         zero, negative, not a number, above the ceiling
    │   ├── InvalidSettings       a key that there is not, a value of the wrong kind; it says where
    │   ├── UnknownLanguage       no language has this name or file extension
    │   └── InvalidLanguageFile   a language's TOML cannot be used
    ├── ToolchainMissing          the language is known, its compiler or interpreter is not here
    ├── StartFailed               the sandbox stood, but the command in it could not be started
    ├── JudgeFailed               a checker or an interactor cannot be used
    ├── AccessDenied              a service does not serve us: no token, or a wrong one
    └── EngineUnavailable         the engine itself failed or cannot run on this machine
        ├── IsolationTooLow       it could run, but not behind the walls that were asked for
        └── Busy                  a service has no turn for us in the time we would wait

A program that fails never raises: that is an `Outcome`. What raises is bad input, or a fault of
the machinery. Each error says what happened and why; `hint` says what to do next.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator, Mapping

_REMEDIES = {
    errno.EMFILE: "raise the limit of open files (ulimit -n), or run fewer programs at once",
    errno.ENFILE: "the machine has too many files open: run fewer programs at once",
    errno.ENOSPC: "free some space in the directory for temporary files, or set TMPDIR",
    errno.ENOMEM: "the machine is out of memory: run fewer programs at once",
}

WATCH_REMEDIES = {  # of what it takes to wait for a descriptor
    errno.ENOSPC: "this user's programs watch too many descriptors: end some, or raise the limit "
    "(sysctl fs.epoll.max_user_watches)"
}


class CodeRunnerError(Exception):
    """The root of the tree. `str(error)` tells what happened, `error.hint` what to do about it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InvalidInput(CodeRunnerError, ValueError):
    """What the caller passed in cannot be used."""


class InvalidProgram(InvalidInput):
    """The program's files or arguments cannot be used."""


class InvalidLimits(InvalidInput):
    """A limit is not a positive number of the right kind, or is above the configured ceiling."""


class InvalidSettings(InvalidInput):
    """A setting is unknown, or its value makes no sense. Says where it stands."""


class UnknownLanguage(InvalidInput):
    """No language has this name."""


class InvalidLanguageFile(InvalidInput):
    """A language description could not be read or is incomplete."""


class ToolchainMissing(CodeRunnerError):
    """The compiler or interpreter of a known language is not installed."""


class StartFailed(CodeRunnerError):
    """The command of a job could not be executed (not found, not executable, too long)."""


class JudgeFailed(CodeRunnerError):
    """A checker or an interactor does not compile. Never the fault of what it was to judge."""


class AccessDenied(CodeRunnerError):
    """A service does not serve this caller: the token is missing, wrong, or for another one."""


class EngineUnavailable(CodeRunnerError):
    """The engine cannot run here, or failed while running. Never the fault of the program."""


class IsolationTooLow(EngineUnavailable):
    """The engine works, but offers less isolation than the caller insists on."""


class Busy(EngineUnavailable):
    """A service has too much to do, and still had after we had asked for as long as we may.
    `retry_s`: when it wants to be asked again."""

    def __init__(self, message: str, *, hint: str = "", retry_s: float = 1.0) -> None:
        super().__init__(message, hint=hint)
        self.retry_s = retry_s


@contextlib.contextmanager
def faults_of_the_machine(remedies: Mapping[int, str] = {}) -> Iterator[None]:
    """Whatever the operating system refuses us in here is the machine's fault, so it is raised
    as EngineUnavailable: never as the program's failure, and never as a bare OSError. `remedies`
    are for error numbers that mean something else here than usual."""
    try:
        yield
    except OSError as error:
        about = f" ({error.filename})" if error.filename else ""
        known = {**_REMEDIES, **remedies}
        raise EngineUnavailable(
            f"the machine is in trouble: {error.strerror or error}{about}",
            hint=known.get(error.errno or 0, "`coderunner doctor` tries every control"),
        ) from error

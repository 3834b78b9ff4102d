"""Every exception that can reach the top, as an exit code, a message and a hint."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from dataclasses import dataclass

import typer

from coderunner.cli import exit_codes, messages
from coderunner.cli.interrupts import Interrupted
from coderunner.cli.streams import CannotWrite, NobodyReads
from coderunner.errors import CodeRunnerError

_BUG_HINT = "this is a bug in coderunner; run it again with --debug and report what it prints"


@dataclass(frozen=True, slots=True)
class Failure:
    exit_code: int
    type: str = ""
    message: str = ""  # empty: nobody needs to be told
    hint: str = ""

    @property
    def is_bug(self) -> bool:
        return self.exit_code == exit_codes.INTERNAL


def of(error: Exception) -> Failure:
    if isinstance(error, CodeRunnerError):
        kind = type(error).__name__
        return Failure(exit_codes.of_error(error), kind, error.message, error.hint)
    if isinstance(error, typer.TyperException):
        return _usage(error)
    if isinstance(error, Interrupted):
        return Failure(exit_codes.of_signal(error.number))
    if isinstance(error, NobodyReads | BrokenPipeError):
        _close_stdout()
        return Failure(exit_codes.of_signal(signal.SIGPIPE))
    if isinstance(error, CannotWrite):
        return Failure(exit_codes.CANNOT_WRITE, "CannotWrite", str(error))
    message = f"{type(error).__name__}: {error}"
    return Failure(exit_codes.INTERNAL, "InternalError", message, _BUG_HINT)


def report(failure: Failure, *, as_json: bool) -> None:
    if not as_json:
        messages.error(failure.message, failure.hint)
        return
    from coderunner.cli import as_json as json

    json.write(json.of_error(failure.type, failure.message, failure.hint))


def show_traceback(error: Exception) -> None:
    messages.say("".join(traceback.format_exception(error)).rstrip())


def _usage(error: typer.TyperException) -> Failure:
    message = error.format_message()
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "coderunner"
    if type(error).__name__ == "NoArgsIsHelpError":  # the message is the help itself
        messages.say(message)
        return Failure(exit_codes.USAGE)
    message = message[:1].lower() + message[1:].rstrip(".")
    return Failure(exit_codes.USAGE, "UsageError", message, f"see {path} --help")


def _close_stdout() -> None:
    """Or Python would complain about the flush at exit, too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), sys.stdout.fileno())

"""What we have to say, on stderr: `error:` and `hint:` lines, and the status line of a run.

Plain text: every line makes sense without colour, and none is wrapped.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from coderunner.cli import bar
from coderunner.cli import limits as limit_flags
from coderunner.model import EndedBy, Limits, Outcome, Result
from coderunner.notices import Notice, Progress, in_lines

_RED, _CYAN, _DIM = "1;31", "1;36", "2"


def error(message: str, hint: str = "") -> None:
    say(f"{_paint('error:', _RED)} {message}")
    if hint:
        say(f"{_paint('hint:', _CYAN)} {hint}")


def notice(text: str) -> None:
    say(_paint(text, _DIM))


def news(before: Callable[[], None] = lambda: None) -> Notice:
    """What takes long: a line, and on a terminal a bar. `before` makes room on stdout."""
    lines = in_lines(notice)

    def tell(said: str | Progress) -> None:
        before()
        if isinstance(said, Progress) and bar.can_be_drawn():
            bar.draw(said)
        else:
            lines(said)

    return tell


def say(line: str) -> None:
    """One line to stderr; who reads it may be gone already."""
    try:
        bar.take_back()
        print(line.encode("utf-8", "backslashreplace").decode(), file=sys.stderr, flush=True)
    except (OSError, ValueError, UnicodeError):
        return


def status(outcome: Outcome) -> str:
    """One line on how a run went and what it took."""
    usage = outcome.usage
    return (
        f"{ending(outcome)}, {limit_flags.seconds(usage.wall_ms)}"
        f" (cpu {limit_flags.seconds(usage.cpu_ms)}), {usage.memory_peak_kb / 1024:.1f} MB,"
        f" {outcome.engine} engine, isolation {outcome.isolation.value}"
    )


def ending(outcome: Outcome) -> str:
    if outcome.ended_by is EndedBy.EXIT:
        return f"exit code {outcome.exit_code}"
    if outcome.ended_by is EndedBy.SIGNAL:
        return f"signal {_signal(outcome.signal or 0)}"
    return f"stopped ({outcome.ended_by.value.replace('_', ' ')})"


def problem(result: Result, limits: Limits, compile_limits: Limits) -> tuple[str, str] | None:
    """What went wrong, beyond what the program can say itself; and what to do about it."""
    outcome = result.outcome
    if result.execution is None:
        return _compile_problem(outcome, compile_limits)
    if outcome.ended_by is EndedBy.EXIT:
        return None
    if outcome.ended_by is EndedBy.SIGNAL:
        return f"the program was ended by signal {_signal(outcome.signal or 0)}", ""
    what, flag = limit_flags.describe(outcome, limits)
    return f"the program was stopped: {what}", f"allow more with {flag}" if flag else ""


def _compile_problem(outcome: Outcome, limits: Limits) -> tuple[str, str]:
    if outcome.ended_by in (EndedBy.EXIT, EndedBy.SIGNAL):
        return f"the program did not compile ({ending(outcome)} of the compiler)", ""
    what, _ = limit_flags.describe(outcome, limits)
    return f"the compiler was stopped: {what}", ""


def _signal(number: int) -> str:
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:  # a real-time signal
        return str(number)


def _paint(text: str, style: str) -> str:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain or not sys.stderr.isatty() else f"\x1b[{style}m{text}\x1b[0m"

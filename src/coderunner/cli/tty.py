"""`coderunner run --tty`: the program's terminal, shown in ours."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import termios
import tty
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FrameType
from typing import Protocol

from coderunner.model import Terminal


class Resizable(Protocol):
    """A process, here or elsewhere."""

    def resize(self, rows: int, columns: int) -> None: ...


@contextlib.contextmanager
def lent() -> Iterator[tuple[Terminal, Callable[[Resizable], None] | None]]:
    """If our stdin is a terminal, the program's is as large as that one, and gets its keys as they
    are: ^C is for the program to understand. However this ends, ours is left as it was found."""
    terminal = Terminal(*_size())
    if kind := os.environ.get("TERM"):
        terminal = replace(terminal, kind=kind)
    if not os.isatty(0):
        yield terminal, None
        return
    with _raw():
        try:
            yield terminal, _follow_size
        finally:
            asyncio.get_running_loop().remove_signal_handler(signal.SIGWINCH)


def _size() -> tuple[int, int]:
    for fd in (0, 1):
        with contextlib.suppress(OSError):
            columns, rows = os.get_terminal_size(fd)
            if rows and columns:
                return rows, columns
    return 24, 80


def _follow_size(process: Resizable) -> None:
    def follow() -> None:
        process.resize(*_size())

    asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, follow)
    follow()  # it may have changed meanwhile


@contextlib.contextmanager
def _raw() -> Iterator[None]:
    """Every key is passed on as it is. (Signals that end us cancel what runs, and so come by here:
    see interrupts.py. SIGQUIT does not.)"""
    modes = termios.tcgetattr(0)

    def restore() -> None:
        termios.tcsetattr(0, termios.TCSANOW, modes)

    def quit_at_once(number: int, frame: FrameType | None) -> None:
        restore()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    quitting = signal.signal(signal.SIGQUIT, quit_at_once)
    try:
        tty.setraw(0, termios.TCSADRAIN)
        yield
    finally:
        restore()
        signal.signal(signal.SIGQUIT, quitting)

"""The caller's side of a program's terminal: a pseudo terminal of this machine's.

    program ── slave: stdin, stdout, stderr ══ line discipline ══ master ── reader, writer

The kernel's line discipline is between the two, and in the hands of the program: it echoes, turns
^C into a signal and lines into what is read, until the program wants it otherwise. We hold a slave
of our own as long as the program runs. Without it a program that lets go of its terminal for a
moment would end what we read.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import signal
import struct
import termios
from contextlib import suppress

from coderunner.model import Terminal
from coderunner.pipes import PipeReader, PipeWriter

_TIOCSIG = 0x40045436  # which `termios` does not name
_IUTF8 = 0o40000  # the same: to delete a character is to delete all of its bytes
_KEYS = frozenset({signal.SIGINT, signal.SIGQUIT})
_END_OF_FILE = b"\x04"
_LINE_ENDS = (b"\n", b"\r", _END_OF_FILE)
_TYPE_AGAIN_S = 0.02


def open_terminal(terminal: Terminal) -> tuple[int, int]:
    """A new one: its master and its slave."""
    master, slave = os.openpty()
    try:
        set_size(master, terminal.rows, terminal.columns)
        modes = termios.tcgetattr(slave)
        modes[0] |= _IUTF8
        termios.tcsetattr(slave, termios.TCSANOW, modes)
    except BaseException:
        os.close(master)
        os.close(slave)
        raise
    return master, slave


def set_size(fd: int, rows: int, columns: int) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class TerminalReader(PipeReader):
    """What the program writes, as the line discipline passes it on; it owns a master."""

    async def read(self) -> bytes:
        try:
            return await super().read()
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return b""  # nobody has the slave any more


class SilentReader(PipeReader):
    """What the program writes to its stderr, as far as that is not on its terminal: nothing."""

    def __init__(self) -> None:
        self._fd = -1


class TerminalWriter(PipeWriter):
    """What is typed, and all else that is done to a terminal; it owns a master and a slave. To be
    closed when the program is over: what that has written is then read to its end."""

    def __init__(self, master: int, slave: int) -> None:
        super().__init__(master)
        self._slave = slave
        self._last_typed = b"\n"

    async def write(self, data: bytes) -> None:
        self._last_typed = data[-1:] or self._last_typed
        await super().write(data)

    def end(self) -> None:
        """Types ^D: once if the line is empty, twice if not, since the first only hands it over."""
        if not self._stopped:
            self.stop()
            self._type_end(1 if self._last_typed in _LINE_ENDS else 2)

    def _type_end(self, times: int) -> None:
        if self.closed:
            return
        with suppress(BlockingIOError):  # the program reads nothing, and there is no room
            times -= os.write(self._fd, self._end_key() * times)
        if times:
            asyncio.get_running_loop().call_later(_TYPE_AGAIN_S, self._type_end, times)

    def _end_key(self) -> bytes:
        """The program may have chosen another, or none."""
        key: bytes = termios.tcgetattr(self._fd)[6][termios.VEOF]
        return _END_OF_FILE if key == b"\0" else key

    def resize(self, rows: int, columns: int) -> None:
        if not self.closed:
            set_size(self._fd, rows, columns)

    def press(self, number: int) -> bool:
        """Send a signal as its key does, whatever the modes are: to the foreground. False if there
        is no such key, or nobody in the foreground yet."""
        if number not in _KEYS or self.closed or not os.tcgetpgrp(self._fd):
            return False
        fcntl.ioctl(self._fd, _TIOCSIG, number)
        return True

    def drop(self) -> None:
        super().drop()
        slave, self._slave = self._slave, -1
        if slave >= 0:
            os.close(slave)

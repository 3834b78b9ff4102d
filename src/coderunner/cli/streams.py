"""Our own stdin, stdout and stderr, as the program's."""

from __future__ import annotations

import errno
import os
import select
import sys
from collections.abc import AsyncIterator

from coderunner.cli.threads import Worker
from coderunner.errors import InvalidInput
from coderunner.model import Stream

_CHUNK = 64 * 1024
_FDS = {Stream.STDOUT: 1, Stream.STDERR: 2}


class NobodyReads(Exception):
    """Whoever read our output has gone: `coderunner run … | head -1`."""


class CannotWrite(Exception):
    """Our output cannot be written, as on a full disk."""


def fill_closed_descriptors() -> None:
    """`<&-` closes stdin. The next file to be opened would then become our stdin, and the
    program would be fed from an epoll descriptor."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    # Python has None for those it found closed.
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


async def stdin_chunks(fd: int = 0) -> AsyncIterator[bytes]:
    """What arrives on stdin, as it arrives, and no faster than it is wanted."""
    worker = Worker("stdin")
    while chunk := await worker.call(lambda: _read(fd)):
        yield chunk


def _read(fd: int) -> bytes:
    while True:
        try:
            return os.read(fd, _CHUNK)
        except BlockingIOError:  # somebody who shares it made it non-blocking
            _wait(fd, select.POLLIN)
        except OSError as error:
            if error.errno == errno.EIO:  # the terminal is gone, or not ours to read
                return b""
            raise InvalidInput(
                f"stdin cannot be read: {error.strerror}", hint="give it a file, or </dev/null"
            ) from error


def write_all(fd: int, data: bytes) -> None:
    """All of it, blocking. BrokenPipeError becomes NobodyReads, anything else CannotWrite."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            _wait(fd, select.POLLOUT)
        except BrokenPipeError:
            raise NobodyReads from None
        except OSError as error:
            raise CannotWrite(f"cannot write to fd {fd}: {error.strerror}") from error


def _wait(fd: int, event: int) -> None:
    poll = select.poll()
    poll.register(fd, event)
    poll.poll()


class LiveOutput:
    """A sink that passes the program's output on, byte for byte and at once."""

    def __init__(self) -> None:
        self._workers = {stream: Worker(stream.value) for stream in Stream}
        # Only what shares stderr's place can leave its line unfinished.
        alone = not (os.isatty(1) and os.isatty(2))
        self._beside_stderr = {Stream.STDERR} if alone else set(Stream)
        self._last = b"\n"

    @property
    def in_mid_line(self) -> bool:
        """Whether what is printed to stderr next would continue one of the program's lines."""
        return self._last != b"\n"

    async def __call__(self, stream: Stream, data: bytes) -> None:
        await self._workers[stream].call(lambda: write_all(_FDS[stream], data))
        if stream in self._beside_stderr:
            self._last = data[-1:]

"""Asks a tool about itself: a short command on the host, with a deadline and a bounded answer."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from coderunner.cancelling import outlast

_TIMEOUT_S = 20.0  # a JVM on a cold, busy machine needs seconds
_MOST_BYTES = 64 * 1024
_AT_ONCE = 4
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class ProbeFailed(Exception):
    """A tool is there but gave no usable answer."""

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(f"{command}: {reason}")
        self.command = command
        self.reason = reason


async def ask(argv: Sequence[str]) -> str:
    """What a command prints, stdout before stderr. Raises ProbeFailed unless it exits with 0.

    It runs in `/`, since some shims choose by the files of the current directory, and what is
    found has to hold everywhere.
    """
    async with _turn():
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd="/",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise ProbeFailed(argv[0], error.strerror or str(error)) from error
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                out, err = await _drain(process)
        except TimeoutError as error:
            raise ProbeFailed(argv[0], f"no answer within {_TIMEOUT_S:.0f} seconds") from error
        finally:
            await _end(process)
    if process.returncode != 0:
        said = (err or out).strip().splitlines() or [""]
        raise ProbeFailed(argv[0], f"exit code {process.returncode}: {said[-1]}".rstrip(": "))
    return f"{out}\n{err}"


def _turn() -> asyncio.Semaphore:
    """Limits how many probes run at once, in each event loop."""
    return _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(_AT_ONCE))


async def _drain(process: asyncio.subprocess.Process) -> tuple[str, str]:
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = await asyncio.gather(_read(process.stdout), _read(process.stderr))
    await process.wait()
    return out, err


async def _read(stream: asyncio.StreamReader) -> str:
    """All of a stream, of which the beginning is kept."""
    kept = b""
    while chunk := await stream.read(_MOST_BYTES):
        kept += chunk[: _MOST_BYTES - len(kept)]
    return kept.decode("utf-8", errors="replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Leave nothing running, also when we were cancelled."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await outlast(asyncio.create_task(process.wait()))

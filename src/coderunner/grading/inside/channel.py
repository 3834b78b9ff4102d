"""How the box speaks with us.

    stdin    lines for the box: what is to be run
    stdout   lines from the box, each begins with a proof that it is genuine: made with a key, of
             this line only, for the solution may read what is written here
    stderr   what the solution and its tests print, with a mark behind each test

What is graded gets neither stdin nor stdout. Everything used here is taken from its module now,
before the solution can replace anything.
"""

from __future__ import annotations

import os
import sys
from _blake2 import blake2s as _proof  # `hashlib` would take time

TYPE_CHECKING = False  # importing `typing` takes time
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_write, _read, _close, _exit, _getpid = os.write, os.read, os.close, os._exit, os.getpid
_eval, _str, _len, _format = eval, str, len, "{:.3f}".format
_LONGEST = 2000


class Channel:
    def __init__(self) -> None:
        self._out, self._in = os.dup(1), os.dup(0)  # not inherited by programs it starts
        self._pid = _getpid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        _close(nothing)
        os.dup2(2, 1)
        self._key = self._mark = b""
        self._rest = b""

    def receive(self) -> dict[str, Any]:
        """The first line: what to do, and the key to what proves our answers."""
        said: dict[str, Any] = _eval(self.line(), {"__builtins__": {}})
        self._key, self._mark = said.pop("key"), said.pop("mark")
        return said

    def line(self) -> bytes:
        """The next line; nothing, if there will be none."""
        parts, part = [], self._rest
        while b"\n" not in part:
            parts.append(part)
            part = _read(self._in, 1 << 16)
            if not part:
                return b""
        last, _, self._rest = part.partition(b"\n")
        return b"".join((*parts, last))

    def no_more(self) -> None:
        """Nobody is to read what else comes."""
        _close(self._in)

    def say(self, kind: str, *words: str) -> None:
        self._send(" ".join((kind, *words)).encode())

    def report(
        self, item: str, status: str, message: str = "", line: int = 0, ms: float = 0.0
    ) -> None:
        text = cut(message).encode("utf-8", "backslashreplace").hex() or "-"
        self.mark(item)
        self.say("result", hexed(item), status, _str(line), _format(ms), text)

    def announce(self, item: str, names: Iterable[str]) -> None:
        """One of the tests that were expected is really these."""
        for name in names:
            self.say("found", hexed(item), hexed(name))

    def started(self, item: str) -> None:
        self.say("started", hexed(item))

    def mark(self, item: str) -> None:
        """What was printed up to here belongs to this."""
        flush()
        self._put(2, self._mark + hexed(item).encode() + b"\n")

    def tripped(self, over: str) -> None:
        """The end, at once. It may be too early for a proof, and nobody gains by making it up."""
        self._put(self._out, b"\ntripped " + hexed(over).encode() + b"\n")
        _exit(1)

    def _send(self, line: bytes) -> None:
        if _getpid() != self._pid:
            _exit(1)  # a copy that the solution has made of us
        proof = _proof(line, key=self._key).hexdigest().encode()
        self._put(self._out, b"\n" + proof + b" " + line + b"\n")

    def _put(self, descriptor: int, data: bytes) -> None:
        while data:
            data = data[_write(descriptor, data) :]


def hexed(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").hex()


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - `contextlib` is not ours to import
            stream.flush()
        except BaseException:  # noqa: S110 - the solution may have put anything there
            pass


def cut(text: str) -> str:
    return text if _len(text) <= _LONGEST else text[:_LONGEST] + "…"

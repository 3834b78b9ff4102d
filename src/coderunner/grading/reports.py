"""What comes back from the box while tests run.

Reports are lines on stdout that begin with a secret, which the box is told once the graded code is
loaded; everything else there is noise that somebody made. What the code and the tests print comes
on stderr, with a mark behind each test.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field

from coderunner.model import Stream
from coderunner.text import head_of

_LONGEST_LINE = 64 * 1024
_STATUSES = ("passed", "failed", "error", "skipped")
TROUBLE, DONE = "trouble", "done"


@dataclass(frozen=True, slots=True)
class Report:
    """What is said of one test."""

    status: str
    message: str
    line: int
    time_ms: float


@dataclass
class Reports:
    """A sink for one run. `keep_bytes` of what is printed are kept, all tests together."""

    keep_bytes: int
    proof: str = field(default_factory=lambda: secrets.token_hex(16))
    mark: bytes = field(default_factory=lambda: b"\0" + secrets.token_hex(16).encode() + b" ")
    loaded: asyncio.Event = field(default_factory=asyncio.Event)
    of: dict[str, Report] = field(default_factory=dict)
    found: dict[str, list[str]] = field(default_factory=dict)  # the tests of each group
    started: list[str] = field(default_factory=list)
    printed: dict[str, str] = field(default_factory=dict)
    trouble: str = ""  # what kept the code from loading
    done: bool = False
    _lines: bytearray = field(default_factory=bytearray)
    _text: bytearray = field(default_factory=bytearray)

    async def __call__(self, stream: Stream, chunk: bytes) -> None:
        if stream is Stream.STDOUT:
            self._hear(chunk)
        else:
            self._read(chunk)

    @property
    def rest(self) -> str:
        """What was printed after the last mark."""
        return head_of(bytes(self._text), max(self.keep_bytes, 0))

    def _hear(self, chunk: bytes) -> None:
        *lines, rest = bytes(self._lines + chunk).split(b"\n")
        self._lines[:] = rest[: _LONGEST_LINE + 1]
        for line in lines:
            if len(line) <= _LONGEST_LINE:
                self._line(line)

    def _line(self, line: bytes) -> None:
        if line == b"loaded":
            self.loaded.set()
            return
        proof, _, said = line.partition(b" ")
        if not secrets.compare_digest(proof, self.proof.encode()):
            return
        kind, *words = said.decode("ascii", "replace").split(" ")
        take = {"result": self._result, "found": self._found, "started": self._started}.get(kind)
        if take is not None:
            take(words)

    def _result(self, words: list[str]) -> None:
        item, status, line, ms, message = words
        name, text = _unhex(item), "" if message == "-" else _unhex(message)
        if status == TROUBLE:
            self.trouble = text
        elif status == DONE:
            self.done = True
        elif status in _STATUSES and not self._is_worse(name):
            self.of[name] = Report(status, text, int(line), float(ms))

    def _is_worse(self, name: str) -> bool:
        """Whether something bad was said of this test already: that stands."""
        return name in self.of and self.of[name].status != "passed"

    def _found(self, words: list[str]) -> None:
        group, name = words
        self.found.setdefault(_unhex(group), []).append(_unhex(name))

    def _started(self, words: list[str]) -> None:
        self.started.append(_unhex(words[0]))

    def _read(self, chunk: bytes) -> None:
        """Up to the next mark it belongs to the test that the mark is of."""
        self._text += chunk
        while (place := self._text.find(self.mark)) >= 0:
            end = self._text.find(b"\n", place)
            if end < 0:
                return
            item = _unhex(self._text[place + len(self.mark) : end].decode("ascii", "replace"))
            self._keep(item, bytes(self._text[:place]))
            del self._text[: end + 1]
        # A mark may be coming whose beginning is here.
        spare = len(self._text) - max(self.keep_bytes, 0) - len(self.mark) - 4096
        if spare > 0:
            del self._text[max(self.keep_bytes, 0) : max(self.keep_bytes, 0) + spare]

    def _keep(self, item: str, printed: bytes) -> None:
        text = head_of(printed, max(self.keep_bytes, 0))
        self.keep_bytes -= len(text.encode())
        if text:
            self.printed[item] = self.printed.get(item, "") + text


def _unhex(text: str) -> str:
    try:
        return bytes.fromhex(text).decode("utf-8", "replace")
    except ValueError:
        return ""

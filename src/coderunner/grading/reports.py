"""What comes back from the box while tests run.

Reports are lines on stdout that begin with a proof, made of the line with a secret key. Only what
grades has been told the key; everything else there is noise that somebody made, and who listens in
learns nothing that proves another line. What the code and the tests print comes on stderr, with a
mark behind each test.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from coderunner.grading.printed import Printed, unhexed
from coderunner.model import Stream

_LONGEST_LINE = 64 * 1024
_LONGEST_WIRE = 400  # anybody may have written what was tripped over
_STATUSES = ("passed", "failed", "error", "skipped")
_TROUBLE, _DONE = "trouble", "done"


@dataclass(frozen=True, slots=True)
class Report:
    """What is said of one test."""

    status: str
    message: str
    line: int
    time_ms: float


def proof_of(said: bytes, key: bytes) -> bytes:
    return hashlib.blake2s(said, key=key).hexdigest().encode()


class Lines:
    """Cuts a stream into lines. One that is too long is left out."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._held = 0

    def cut(self, chunk: bytes) -> Iterator[bytes]:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            self._hold(line)
            whole, fits = b"".join(self._parts), self._held <= self._longest
            self._parts, self._held = [], 0
            if fits:
                yield whole
        self._hold(rest)

    def _hold(self, part: bytes) -> None:
        self._held += len(part)
        if self._held <= self._longest:
            self._parts.append(part)
        else:
            self._parts.clear()


class Reports:
    """A sink for one run."""

    def __init__(self, printed: Printed, longest_line: int = _LONGEST_LINE) -> None:
        self.printed = printed
        self.key = secrets.token_hex(16).encode()
        self.of: dict[str, Report] = {}
        self.found: dict[str, list[str]] = {}  # the tests of each group
        self.started: list[str] = []
        self.loaded = False
        self.trouble = ""  # what kept the code from loading
        self.tripped = ""  # what the code has reached for that it should not have
        self.done = False
        self._lines = Lines(longest_line)
        self._takes = {"result": self._result, "found": self._found, "started": self._started}

    async def __call__(self, stream: Stream, chunk: bytes) -> None:
        if stream is Stream.STDERR:
            self.printed.feed(chunk)
            return
        for line in self._lines.cut(chunk):
            await self.hear(line)

    async def hear(self, line: bytes) -> None:
        proof, _, said = line.partition(b" ")
        kind, *words = said.decode("ascii", "replace").split(" ")
        if proof == b"tripped":
            self.tripped = self.tripped or unhexed(kind[:_LONGEST_WIRE])
        elif not self.is_genuine(proof, said):
            return
        elif kind == "loaded":
            self.loaded = True
        elif kind in self._takes:
            with suppress(ValueError):  # the secret is out, and who has it says it wrong
                self._takes[kind](words)

    def is_genuine(self, proof: bytes, said: bytes) -> bool:
        return secrets.compare_digest(proof, proof_of(said, self.key))

    def _result(self, words: list[str]) -> None:
        item, status, line, ms, message = words
        name, text = unhexed(item), "" if message == "-" else unhexed(message)
        if status == _TROUBLE:
            self.trouble = text
        elif status == _DONE:
            self.done = True
        elif status in _STATUSES and not self._is_worse(name):
            self.of[name] = Report(status, text, int(line), float(ms))

    def _is_worse(self, name: str) -> bool:
        """Whether something bad was said of this test already: that stands."""
        return name in self.of and self.of[name].status != "passed"

    def _found(self, words: list[str]) -> None:
        group, name = words
        self.found.setdefault(unhexed(group), []).append(unhexed(name))

    def _started(self, words: list[str]) -> None:
        (item,) = words
        self.started.append(unhexed(item))

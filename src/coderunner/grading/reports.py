"""What comes back from the box while tests run.

Reports are lines on stdout that begin with a secret. Only what grades has been told it, and forgets
it when it ends; everything else there is noise that somebody made. What the code and the tests
print comes on stderr, with a mark behind each test.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from coderunner.grading.printed import Printed, unhexed
from coderunner.model import Stream

LONGEST_LINE = 64 * 1024
_STATUSES = ("passed", "failed", "error", "skipped")
_TROUBLE, _DONE = "trouble", "done"


@dataclass(frozen=True, slots=True)
class Report:
    """What is said of one test."""

    status: str
    message: str
    line: int
    time_ms: float


class Lines:
    """Cuts a stream into lines. One that is too long is left out."""

    def __init__(self, take: Callable[[bytes], None], longest: int = LONGEST_LINE) -> None:
        self._take = take
        self._longest = longest
        self._parts: list[bytes] = []
        self._held = 0

    def feed(self, chunk: bytes) -> None:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            self._hold(line)
            if self._held <= self._longest:
                self._take(b"".join(self._parts))
            self._parts.clear()
            self._held = 0
        self._hold(rest)

    def _hold(self, part: bytes) -> None:
        self._held += len(part)
        if self._held <= self._longest:
            self._parts.append(part)
        else:
            self._parts.clear()


@dataclass
class Reports:
    """A sink for one run."""

    printed: Printed
    proof: str = field(default_factory=lambda: secrets.token_hex(16))
    of: dict[str, Report] = field(default_factory=dict)
    found: dict[str, list[str]] = field(default_factory=dict)  # the tests of each group
    started: list[str] = field(default_factory=list)
    loaded: bool = False
    trouble: str = ""  # what kept the code from loading
    tripped: str = ""  # what the code has reached for that it should not have
    done: bool = False

    def __post_init__(self) -> None:
        self._lines = Lines(self.hear)
        self._takes = {"result": self._result, "found": self._found, "started": self._started}

    async def __call__(self, stream: Stream, chunk: bytes) -> None:
        if stream is Stream.STDOUT:
            self._lines.feed(chunk)
        else:
            self.printed.feed(chunk)

    def hear(self, line: bytes) -> None:
        proof, _, said = line.partition(b" ")
        kind, *words = said.decode("ascii", "replace").split(" ")
        if proof == b"tripped":
            self.tripped = self.tripped or unhexed(kind)
        elif not secrets.compare_digest(proof, self.proof.encode()):
            return
        elif kind == "loaded":
            self.loaded = True
        elif kind in self._takes:
            self._takes[kind](words)

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
        self.started.append(unhexed(words[0]))

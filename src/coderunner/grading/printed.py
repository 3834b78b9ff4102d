"""What was printed, and during which test: text with a mark behind each part."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from coderunner.text import head_of

_LONGEST_MARK = 4096


@dataclass
class Printed:
    """`keep_bytes` are kept, all parts together."""

    keep_bytes: int
    mark: bytes = field(default_factory=lambda: b"\0" + secrets.token_hex(16).encode() + b" ")
    of: dict[str, str] = field(default_factory=dict)
    _text: bytearray = field(default_factory=bytearray)

    @property
    def rest(self) -> str:
        """What came after the last mark."""
        return head_of(bytes(self._text), self.keep_bytes)

    def feed(self, chunk: bytes) -> None:
        self._text += chunk
        while (place := self._text.find(self.mark)) >= 0:
            end = self._text.find(b"\n", place)
            if end < 0:
                return
            name = unhexed(self._text[place + len(self.mark) : end].decode("ascii", "replace"))
            self._keep(name, bytes(self._text[:place]))
            del self._text[: end + 1]
        # A mark may be coming whose beginning is here.
        spare = len(self._text) - self.keep_bytes - len(self.mark) - _LONGEST_MARK
        if spare > 0:
            del self._text[self.keep_bytes : self.keep_bytes + spare]

    def _keep(self, name: str, printed: bytes) -> None:
        text = head_of(printed, self.keep_bytes)
        self.keep_bytes = max(self.keep_bytes - len(text.encode()), 0)
        if text:
            self.of[name] = self.of.get(name, "") + text


def unhexed(text: str) -> str:
    try:
        return bytes.fromhex(text).decode("utf-8", "replace")
    except ValueError:
        return ""

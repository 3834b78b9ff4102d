"""Text that a caller passed in, as bytes; bytes that a program printed, as text."""

from __future__ import annotations

from coderunner.errors import InvalidProgram


def as_bytes(text: str | bytes, what: str) -> bytes:
    """UTF-8; bytes as they are. `what` names it in the error."""
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise InvalidProgram(f"{what} must be text or bytes, not {type(text).__name__}")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidProgram(
            f"{what} holds half a character (U+{ord(text[error.start]):04X}), which is no text",
            hint="pass bytes, or decode it properly first",
        ) from None


def head_of(data: bytes, most: int) -> str:
    """At most so many bytes, as text: a character that would be cut in two is left out, and what
    is not UTF-8 shows as U+FFFD."""
    head = data[:most]
    if len(head) < len(data):
        head = head[: len(head) - _begun(head)]
    return head.decode("utf-8", errors="replace")


def _begun(data: bytes) -> int:
    """How many bytes at the end begin a character without ending it."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if 0xC2 <= byte <= 0xF4:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if back < needed else 0
        if not 0x80 <= byte < 0xC0:
            return 0
    return 0

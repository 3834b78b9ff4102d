"""Turning text that a caller passed in into bytes."""

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

"""What a kernel has sent, read with care: three bytes of JSON can become seventy of memory."""

from __future__ import annotations

import re
from typing import Any

_MOST_VALUES = 500_000  # in one message
_STRINGS = re.compile(rb'"[^"]*"')


def is_too_much(frames: list[bytes]) -> bool:
    """Whether to read it would fill us, though it has come in few bytes."""
    return any(values_in(frame) > _MOST_VALUES for frame in frames)


def values_in(text: bytes) -> int:
    """About how many values this JSON has. What only looks like some, in a long text, is not
    counted; that is looked at if it matters."""
    found = _marks(text)
    if found <= _MOST_VALUES:
        return found
    bare = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    strings = bare.count(b'"') // 2
    return strings if strings > _MOST_VALUES else _marks(b"".join(_STRINGS.split(bare)))


def understood(session: Any, frames: list[bytes]) -> dict[str, Any]:
    """Signed by who has the key, so by the kernel. Or by the code in it."""
    try:
        _, parts = session.feed_identities(frames)
        message = session.deserialize(parts)
    except Exception:  # whatever it is, it is no message
        return {}
    return message if isinstance(message, dict) else {}


def says_goodbye(reply: dict[str, Any]) -> bool:
    """`exit` and `quit` end the cell first, and the kernel a little later."""
    payload = reply.get("payload")
    orders = payload if isinstance(payload, list) else []
    asked = [order for order in orders if isinstance(order, dict)]
    return any(o.get("source") == "ask_exit" and not o.get("keepkernel") for o in asked)


def _marks(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")

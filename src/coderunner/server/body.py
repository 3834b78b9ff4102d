"""The body of a request, as far as we read it: so long, and in so much time."""

from __future__ import annotations

import asyncio

from starlette.types import Message, Receive

from coderunner.server.admission import too_large
from coderunner.server.problems import Problem


def bounded(receive: Receive, most: int, seconds: float) -> Receive:
    """The same, but for bodies that are longer, or do not come to their end."""
    deadline = asyncio.get_running_loop().time() + seconds
    total = 0
    whole = False

    async def read() -> Message:
        nonlocal total, whole
        if whole:  # all that can come now is that the client goes
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise Problem(
                408,
                "too-slow",
                f"the body did not arrive within {seconds:g} s",
                headers={"Connection": "close"},
            ) from None
        total += len(message.get("body", b""))
        if total > most:
            raise too_large(most)
        whole = not message.get("more_body", False)
        return message

    return read

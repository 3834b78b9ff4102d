"""Where a service is, and what it wants to see."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit

from coderunner.errors import InvalidInput
from coderunner.settings.environment import TOKEN

_EXAMPLE = "http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class Address:
    url: str
    token: str = field(default="", repr=False)

    @classmethod
    def of(cls, url: str, token: str | None = None) -> Self:
        """Without a token, that of the environment. Raises InvalidInput."""
        return cls(
            _checked_url(url),
            _checked_token(os.environ.get(TOKEN, ""), TOKEN)
            if token is None
            else _checked_token(token, "the token"),
        )

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def is_loopback(self) -> bool:
        """No proxy has to be asked for what is on this machine."""
        host = urlsplit(self.url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")


def _checked_url(url: object) -> str:
    """Nothing of it is shown that could be secret."""
    if not isinstance(url, str):
        raise InvalidInput(f"an address is text, not {type(url).__name__}", hint=_EXAMPLE)
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
        good = good and parts.port != 0 and url.isprintable() and " " not in url
    except ValueError:
        good = False
    if not good:
        raise InvalidInput("this is no address of a service", hint=f"such as {_EXAMPLE}")
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidInput(
            "the address of a service has no user, no query and no fragment",
            hint=f"such as {_EXAMPLE}; a token goes into {TOKEN}",
        )
    return url.rstrip("/")


def _checked_token(token: object, what: str) -> str:
    """As it goes into a header. It is not shown."""
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidInput(f"{what} cannot be one", hint="`coderunner token` prints one to copy")
    return token

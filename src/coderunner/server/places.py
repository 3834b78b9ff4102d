"""So many at once, and so many of one client. Who comes later is told to come again."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator

from coderunner.server.problems import too_busy

_SOON_S = 5.0


class Places:
    def __init__(self, what: str, most: int, per_client: int) -> None:
        self._what = what
        self._most = most
        self._per_client = per_client
        self._taken: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._taken.total()

    def check(self, client: str) -> None:
        """Raises a Problem if there is no place."""
        if self._taken[client] >= self._per_client:
            said = f"you have {self._per_client} {self._what} already: end one of them"
            raise too_busy(429, "too-many-at-once", said, _SOON_S)
        if len(self) >= self._most:
            raise too_busy(503, "busy", f"there are {self._most} {self._what} already", _SOON_S)

    @contextlib.contextmanager
    def place(self, client: str) -> Iterator[None]:
        self.check(client)
        self._taken[client] += 1
        try:
            yield
        finally:
            self._taken[client] -= 1
            if not self._taken[client]:
                del self._taken[client]

"""How often a client may ask: a bucket of tokens that fills at a steady rate."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass

from coderunner.server.problems import too_busy

_REMEMBERED = 10_000  # clients


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class Rates:
    def __init__(self, per_second: float, burst: int) -> None:
        self._per_second = per_second
        self._burst = burst
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def check(self, client: str) -> None:
        """Raises a Problem if this one asks too often."""
        now = time.monotonic()
        bucket = self._buckets.pop(client, None) or _Bucket(self._burst, now)
        self._buckets[client] = bucket  # the newest at the end
        if len(self._buckets) > _REMEMBERED:
            self._buckets.popitem(last=False)
        gained = (now - bucket.at) * self._per_second
        bucket.tokens, bucket.at = min(self._burst, bucket.tokens + gained), now
        if bucket.tokens < 1:
            raise too_busy(
                429,
                "too-often",
                f"more than {self._per_second:g} requests per second",
                (1 - bucket.tokens) / self._per_second,
            )
        bucket.tokens -= 1

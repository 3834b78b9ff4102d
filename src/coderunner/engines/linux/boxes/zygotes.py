"""The warm interpreters of a spawner: started on demand, replaced at times, ended when idle."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from .making import Order
from .zygote import Wish, Zygote

_AT_MOST = 4
# One that somebody uses is not ended for another, or several kinds in turn would never be warm.
_IN_USE_SECONDS = 10.0
_REMEMBERED = 100  # wishes
_KEEP_SECONDS = 300.0
# Forks share what an interpreter made up once, such as the seed of its hashes and its addresses.
_FORKS = 5000
_RETRY_SECONDS = 30.0
_START_SECONDS = 60.0  # what is imported ahead may take long, but not for ever


class Zygotes:
    def __init__(self, start: Callable[[Order], Zygote]) -> None:
        self._start = start
        self._current: dict[Wish, Zygote] = {}
        self._retired: list[Zygote] = []  # until their last box is gone
        self._asked: dict[Wish, int] = {}
        self._not_before: dict[Wish, float] = {}  # after a failure

    def ready(self, order: Order) -> Zygote | None:
        """An interpreter to fork from, if there is one already."""
        if order.wish is None:
            return None
        self._asked[order.wish] = self._asked.pop(order.wish, 0) + 1
        if len(self._asked) > _REMEMBERED:
            del self._asked[next(iter(self._asked))]  # who was not asked for the longest
        zygote = self._current.get(order.wish)
        return zygote if zygote is not None and zygote.ready else None

    def started(self, order: Order) -> Zygote | None:
        return self._current.get(order.wish) if order.wish is not None else None

    def wants(self, order: Order) -> bool:
        """Whether to start one: a single run pays for none."""
        return (
            order.wish is not None
            and order.wish not in self._current
            and self._asked.get(order.wish, 0) >= 2
            and time.monotonic() >= self._not_before.get(order.wish, 0.0)
            and (len(self._current) < _AT_MOST or self._idlest().last_used < _in_use_since())
        )

    def _idlest(self) -> Zygote:
        return min(self._current.values(), key=lambda zygote: zygote.last_used)

    def start(self, order: Order) -> Zygote:
        assert order.wish is not None
        if len(self._current) >= _AT_MOST:
            self.retire(self._idlest())
        zygote = self._current[order.wish] = self._start(order)
        return zygote

    def fail(self, zygote: Zygote) -> None:
        """It broke. Until another one is tried, programs start cold."""
        now = time.monotonic()
        self._not_before = {wish: at for wish, at in self._not_before.items() if at > now}
        self._not_before[zygote.wish] = now + _RETRY_SECONDS
        self.retire(zygote)

    def used(self, zygote: Zygote) -> None:
        if zygote.forks >= _FORKS:
            self.retire(zygote)

    def retire(self, zygote: Zygote) -> None:
        """Nothing is forked from it any more."""
        self._asked.pop(zygote.wish, None)
        if self._current.get(zygote.wish) is zygote:
            del self._current[zygote.wish]
            self._retired.append(zygote)

    def done(self, now: float) -> list[Zygote]:
        """Takes out those that can be ended."""
        for zygote in list(self._current.values()):
            if now >= zygote.last_used + _KEEP_SECONDS:
                self.retire(zygote)
            elif not zygote.ready and now >= zygote.started_at + _START_SECONDS:
                self.fail(zygote)
        done = [zygote for zygote in self._retired if not zygote.boxes]
        self._retired = [zygote for zygote in self._retired if zygote.boxes]
        return done

    def next_look_at(self) -> float | None:
        """When `done` may have something new to say."""
        moments = [
            zygote.last_used + _KEEP_SECONDS if zygote.ready else zygote.started_at + _START_SECONDS
            for zygote in self._current.values()
        ]
        return min(moments, default=None)

    def all(self) -> Iterator[Zygote]:
        yield from self._current.values()
        yield from self._retired


def _in_use_since() -> float:
    return time.monotonic() - _IN_USE_SECONDS

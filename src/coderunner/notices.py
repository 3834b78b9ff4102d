"""What somebody who waits is told: text, and how far a long piece of work has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

_STEP = 25  # percent


@dataclass(frozen=True, slots=True)
class Progress:
    """In bytes. What all of it is may turn out while it goes on."""

    what: str
    done: int
    total: int

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 0

    def __str__(self) -> str:
        return f"{self.what}: {self.percent}% of {_size(self.total)}"


Notice = Callable[[str | Progress], None]


def ignore(_: str | Progress) -> None:
    pass


def in_lines(say: Callable[[str], None]) -> Notice:
    """For who can only be told in lines: of progress, every quarter."""
    reached: dict[str, int] = {}

    def tell(news: str | Progress) -> None:
        if isinstance(news, Progress):
            step = news.percent // _STEP
            if step <= reached.get(news.what, 0):
                return
            reached[news.what] = step
        say(str(news))

    return tell


def _size(count: int) -> str:
    return f"{count >> 20} MB" if count >> 20 else f"{-(-count // 1024)} kB"

"""When warm interpreters are started, given up and ended. Those here are no interpreters."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from coderunner.engines.linux.boxes.zygotes import Zygotes

pytestmark = pytest.mark.unit


def order(wish: str = "python") -> Any:
    return SimpleNamespace(wish=wish)


def made(order: Any) -> Any:
    now = time.monotonic()
    times = {"started_at": now, "last_used": now}
    return SimpleNamespace(wish=order.wish, ready=False, forks=0, boxes=0, **times)


@pytest.fixture
def zygotes() -> Zygotes:
    return Zygotes(made)


def test_a_single_run_pays_for_none(zygotes: Zygotes) -> None:
    assert zygotes.ready(order()) is None
    assert not zygotes.wants(order())
    zygotes.ready(order())
    assert zygotes.wants(order())


def test_one_that_never_gets_ready_is_given_up_in_time(zygotes: Zygotes) -> None:
    zygote = zygotes.start(order())
    look_at = zygotes.next_look_at()
    assert look_at is not None
    assert zygotes.done(look_at - 0.1) == []
    assert zygotes.done(look_at) == [zygote]
    for _ in range(3):
        zygotes.ready(order())
    assert not zygotes.wants(order())  # not again at once
    assert zygotes.next_look_at() is None


def test_an_idle_one_ends_but_not_before_its_boxes(zygotes: Zygotes) -> None:
    zygote = zygotes.start(order())
    zygote.ready, zygote.boxes = True, 1
    assert zygotes.ready(order()) is zygote
    look_at = zygotes.next_look_at()
    assert look_at is not None
    assert zygotes.done(look_at) == []
    zygote.boxes = 0
    assert zygotes.done(look_at) == [zygote]
    assert zygotes.ready(order()) is None


def test_one_that_was_forked_often_is_replaced(zygotes: Zygotes) -> None:
    zygote = zygotes.start(order())
    zygote.ready = True
    zygotes.used(zygote)
    assert zygotes.ready(order()) is zygote
    zygote.forks = 1_000_000
    zygotes.used(zygote)
    assert zygotes.ready(order()) is None
    assert zygotes.done(0.0) == [zygote]


def test_there_are_only_a_few(zygotes: Zygotes) -> None:
    first, *_ = [zygotes.start(order(str(number))) for number in range(5)]
    assert zygotes.done(0.0) == [first]


def test_none_that_is_in_use_is_ended_for_another(zygotes: Zygotes) -> None:
    used = [zygotes.start(order(str(number))) for number in range(4)]
    for _ in range(2):
        zygotes.ready(order("another"))
    assert not zygotes.wants(order("another"))
    used[2].last_used -= 60.0
    assert zygotes.wants(order("another"))
    zygotes.start(order("another"))
    assert zygotes.done(0.0) == [used[2]]


def test_what_was_asked_for_long_ago_is_forgotten(zygotes: Zygotes) -> None:
    for number in range(1000):
        zygotes.ready(order(str(number)))
        zygotes.ready(order("often"))
    assert zygotes.wants(order("often"))
    assert len(zygotes._asked) <= 100

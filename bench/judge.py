"""A judge's run: one program, built once, then run against many inputs, as many at once as there
are cores. The same by hand and through us."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from bench.hand import Hand, check_printed, cores
from bench.lab import check_outcome
from bench.measure import Once
from coderunner.model import Program
from coderunner.runner import Runner

TESTS = 100
_WARM_SHARE = 0.95  # from here on a judge's run counts as warm


def inputs() -> list[tuple[bytes, bytes]]:
    """What each test gives to the program, and what it must print: numbers and their sum."""
    numbers = [range(test, 3 * test + 1) for test in range(1, TESTS + 1)]
    return [(" ".join(map(str, row)).encode(), b"%d\n" % sum(row)) for row in numbers]


def by_hand(hand: Hand) -> Once:
    async def once() -> bool:
        hand.build()
        with ThreadPoolExecutor(cores()) as threads:
            list(threads.map(lambda test: check_printed(hand.run(test[0]), test[1]), inputs()))
        return False

    return once


def through(runner: Runner, program: Callable[[], Program]) -> Once:
    async def once() -> bool:
        async with runner.build(program()) as build:
            assert build.ok, build.compilation
            turn = asyncio.Semaphore(cores())

            async def test(given: bytes, expected: bytes) -> bool:
                async with turn:
                    return check_outcome((await build.run(stdin=given)).outcome, expected)

            warm = await asyncio.gather(*(test(*pair) for pair in inputs()))
            return sum(warm) >= _WARM_SHARE * TESTS

    return once

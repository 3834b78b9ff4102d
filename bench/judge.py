"""A judge's run: one program, built once, then run against many inputs: by hand, and through
our own judge."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from bench.bare import RunFailed
from bench.hand import Hand, check_printed
from bench.measure import Once
from coderunner.judge.checkers.text import Normalized
from coderunner.judge.judges import open_judges
from coderunner.judge.request import TestCase
from coderunner.judge.test_runner import Bounds, TestRunner
from coderunner.judge.verdict import Verdict
from coderunner.model import Program
from coderunner.runner import Runner

TESTS = 100
_WARM_SHARE = 0.95  # from here on a judge's run counts as warm


def inputs() -> list[tuple[bytes, bytes]]:
    """What each test gives to the program, and what it must print: numbers and their sum."""
    numbers = [range(test, 3 * test + 1) for test in range(1, TESTS + 1)]
    return [(" ".join(map(str, row)).encode(), b"%d\n" % sum(row)) for row in numbers]


def by_hand(hand: Hand, at_once: int) -> Once:
    def test(given: bytes, expected: bytes) -> None:
        check_printed(hand.run(given), expected)

    async def once() -> bool:
        hand.build()
        if at_once == 1:  # in this thread: another one would cost the yardstick time
            for pair in inputs():
                test(*pair)
        else:
            with ThreadPoolExecutor(at_once) as threads:
                list(threads.map(lambda pair: test(*pair), inputs()))
        return False

    return once


def through(runner: Runner, program: Callable[[], Program], at_once: int) -> Once:
    bounds = Bounds(timeout_ms=10_000, total_timeout_ms=60_000)
    tests = [
        TestCase(str(number), given.decode(), expected.decode())
        for number, (given, expected) in enumerate(inputs())
    ]

    async def once() -> bool:
        async with runner.build(program()) as build, open_judges(runner, Normalized()) as judges:
            assert build.ok, build.compilation
            judged = await TestRunner(runner).run_tests(
                build, tests, bounds, judges, parallel=at_once
            )
        failed = next((one for one in judged if one.verdict is not Verdict.ACCEPTED), None)
        if failed is not None:
            raise RunFailed(f"{failed.verdict}: {failed.message}")
        return sum(one.outcome.warm for one in judged if one.outcome) >= _WARM_SHARE * TESTS

    return once

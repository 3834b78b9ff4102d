"""A program ends by itself in every way there is: the facts say which, and no other."""

from __future__ import annotations

import platform
import signal

import pytest

from coderunner.build import Build
from coderunner.model import EndedBy, File, Limits, Outcome, Program
from tests.hostile.arena import Arena
from tests.hostile.surroundings import unharmed
from tests.support import require_toolchain

pytestmark = pytest.mark.hostile

SOURCE = rb"""
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
    char how[16] = "";
    int number = 0;
    scanf("%15s %d", how, &number);
    if (!strcmp(how, "exit")) exit(number);
    if (!strcmp(how, "raise")) {
        signal(number, SIG_DFL);
        kill(getpid(), number);
        pause();
    }
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "segfault")) *(volatile int *)8 = 1;
    if (!strcmp(how, "illegal")) __builtin_trap();
    if (!strcmp(how, "foreign")) syscall(0x40000000 | 39);
}
"""

# The C library keeps 32 and 33 for itself; the kernel does not care.
HARMLESS = {signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH, signal.SIGCONT}
STOPPING = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
DEADLY = sorted(set(range(1, 65)) - HARMLESS - STOPPING - {32, 33})

CRASHES = {
    "abort": signal.SIGABRT,
    "segfault": signal.SIGSEGV,
    "illegal": signal.SIGILL,
}
if platform.machine() == "x86_64":
    CRASHES["foreign"] = signal.SIGSYS  # a call of the x32 kind


async def end(build: Build, how: str, limits: Limits | None = None) -> Outcome:
    result = await build.run(stdin=how.encode(), limits=limits)
    assert result.execution is not None
    return result.execution


def program() -> Program:
    require_toolchain("c")
    return Program("c", (File("main.c", SOURCE),))


async def test_every_exit_code(arena: Arena) -> None:
    codes = arena.some(range(256))
    async with arena.runner.build(program()) as build:
        with unharmed():
            outcomes = [await end(build, f"exit {code}") for code in codes]
    assert {outcome.ended_by for outcome in outcomes} == {EndedBy.EXIT}
    assert [outcome.exit_code for outcome in outcomes] == list(codes)


async def test_every_deadly_signal(arena: Arena) -> None:
    deadly = arena.some(DEADLY)
    async with arena.runner.build(program()) as build:
        with unharmed():
            outcomes = [await end(build, f"raise {number}") for number in deadly]
    assert {outcome.ended_by for outcome in outcomes} == {EndedBy.SIGNAL}
    assert [outcome.signal for outcome in outcomes] == deadly


@pytest.mark.parametrize("number", sorted(HARMLESS | STOPPING))
async def test_signals_that_end_nothing(arena: Arena, number: int) -> None:
    async with arena.runner.build(program()) as build:
        with unharmed():
            outcome = await end(build, f"raise {number}", Limits(wall_ms=300))
    # In a session without a terminal the kernel does not stop anybody for a terminal's sake.
    assert outcome.ended_by is EndedBy.WALL_TIME


@pytest.mark.parametrize("how", CRASHES)
async def test_crashes(arena: Arena, how: str) -> None:
    async with arena.runner.build(program()) as build:
        with unharmed():
            outcome = await end(build, how)
    if how == "foreign" and arena.on_gvisor:  # whose own kernel takes them, or does not
        return
    assert (outcome.ended_by, outcome.signal) == (EndedBy.SIGNAL, CRASHES[how])


async def test_a_signal_that_looks_like_a_limit_is_none(arena: Arena) -> None:
    """Whoever raises SIGXCPU has not used up its cpu time."""
    async with arena.runner.build(program()) as build:
        with unharmed():
            outcome = await end(build, f"raise {signal.SIGXCPU:d}", Limits(cpu_ms=5000))
    assert (outcome.ended_by, outcome.signal) == (EndedBy.SIGNAL, signal.SIGXCPU)

"""Attacks by a program on the terminal it runs in, on who reads it, and on those of others."""

from __future__ import annotations

import os
import pty
import time

import pytest

from coderunner.execution import Stdin
from coderunner.model import EndedBy, File, Limits, Program, Result, Terminal
from tests.hostile.arena import Arena
from tests.hostile.conftest import ON_LINUX
from tests.hostile.surroundings import processes_with, token, unharmed

pytestmark = [pytest.mark.hostile, ON_LINUX]

# Everything that is not on the list: of the terminal itself, of consoles, of the caller's end.
REQUESTS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int got_through;

static void refused(const char *what, long result, int reason) {
    if (result < 0 && errno == reason) return;
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
    got_through = 1;
}

static const struct { const char *name; unsigned long number; int reason; } REQUESTS[] = {
    {"TIOCSTI", 0x5412, EPERM}, {"TIOCLINUX", 0x541c, EPERM}, {"TIOCSETD", 0x5423, ENOTTY},
    {"TIOCEXCL", 0x540c, ENOTTY}, {"TIOCSCTTY", 0x540e, ENOTTY}, {"TIOCNOTTY", 0x5422, ENOTTY},
    {"TIOCCONS", 0x541d, ENOTTY}, {"TIOCVHANGUP", 0x5437, ENOTTY}, {"TIOCPKT", 0x5420, ENOTTY},
    {"TIOCSIG", 0x40045436, ENOTTY}, {"TIOCSPTLCK", 0x40045431, ENOTTY},
    {"TIOCGPTN", 0x80045430, ENOTTY}, {"TIOCGPTPEER", 0x5441, ENOTTY},
    {"TIOCSLCKTRMIOS", 0x5457, ENOTTY}, {"TIOCSSERIAL", 0x541f, ENOTTY},
    {"TIOCMSET", 0x5418, ENOTTY}, {"KDSKBENT", 0x4b47, ENOTTY}, {"VT_ACTIVATE", 0x5606, ENOTTY},
};

int main(void) {
    unsigned long high[] = {0, 1UL << 32, 1UL << 63, 0xffffffff00000000};
    char letter[64] = "x";
    int fds[] = {0, 1, 2, open("/dev/tty", O_RDWR)};
    if (fds[3] < 0) perror("/dev/tty"), got_through = 1;
    for (unsigned long i = 0; i < sizeof REQUESTS / sizeof *REQUESTS; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                refused(REQUESTS[i].name,
                        syscall(SYS_ioctl, fds[k], REQUESTS[i].number | high[j], letter),
                        REQUESTS[i].reason);
    refused("/dev/ptmx", open("/dev/ptmx", O_RDWR), ENOENT);
    refused("/dev/pts", open("/dev/pts", O_RDONLY), ENOENT);
    refused("/dev/console", open("/dev/console", O_RDWR), ENOENT);
    refused("/host-terminals/ptmx", open("/host-terminals/ptmx", O_RDWR), ENOENT);
    refused("/host-terminals/0", open("/host-terminals/0", O_RDWR), ENOENT);
    refused("next to it", openat(0, "../0", O_RDWR), ENOTDIR);
    if (!got_through) puts("held");
    return got_through;
}
"""


async def in_terminal(
    arena: Arena, source: str, language: str = "python", *, stdin: Stdin = None, **limits: float
) -> Result:
    """A hostile program in a terminal; the world is as it was, and the next run works."""
    await arena.check_alive()
    suffix = {"python": "py", "bash": "sh", "c": "c"}[language]
    word = token()
    program = Program(language, (File(f"main.{suffix}", source.encode()),), (word,))
    chosen = Limits(wall_ms=20_000).but(limits)
    with unharmed():
        async with arena.runner.build(program) as build:
            assert build.ok, build.compilation
            result = await build.run(limits=chosen, stdin=stdin, terminal=Terminal())
        assert processes_with(word) == []
    await arena.check_alive()
    return result


async def test_only_what_a_program_needs_can_be_asked_of_it(arena: Arena) -> None:
    result = await in_terminal(arena, REQUESTS, "c")
    assert (result.stdout, result.outcome.exit_code) == ("held\r\n", 0)


async def test_terminals_of_others_are_out_of_reach(arena: Arena) -> None:
    """Also one that everybody may open: it would have to be found first."""
    ours, theirs = pty.openpty()
    try:
        os.chmod(os.ttyname(theirs), 0o666)
        number = os.ttyname(theirs).rpartition("/")[2]
        source = f"""
import os
for start in ("/dev/pts", "/host-terminals", "/proc/self/fd/0/..", "/dev/tty/..", "/proc/1/root"):
    try: os.open(f"{{start}}/{number}", os.O_RDWR | os.O_NOCTTY); print("opened", start)
    except OSError: pass
print([name for name in os.listdir("/") if "termin" in name and os.listdir("/" + name)])
"""
        result = await in_terminal(arena, source)
        assert result.stdout == "[]\r\n"
    finally:
        os.close(ours)
        os.close(theirs)


async def test_a_flood_is_cut_off(arena: Arena) -> None:
    result = await in_terminal(arena, "exec yes", "bash", flood_bytes=1 << 20, output_bytes=1000)
    assert result.outcome.ended_by is EndedBy.OUTPUT
    assert len(result.outcome.stdout.data) == 1000


async def test_what_is_typed_and_never_read_holds_nobody_up(arena: Arena) -> None:
    typed = b"x\n" * 500_000
    result = await in_terminal(arena, "stty raw; sleep 0.5; exit 6", "bash", stdin=typed)
    assert result.outcome.exit_code == 6
    result = await in_terminal(arena, "stty raw; sleep 60", "bash", stdin=typed, wall_ms=700)
    assert result.outcome.ended_by is EndedBy.WALL_TIME


ODD_MODES = """
import os, sys, termios, tty
modes = termios.tcgetattr(0)
modes[:4] = [0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF & ~termios.CREAD, 0xFFFFFFFF]
termios.tcsetattr(0, termios.TCSANOW, modes)
"""


@pytest.mark.parametrize(
    "ending",
    [
        "termios.tcflow(1, termios.TCOOFF); os.write(1, b'x')",
        "termios.tcflow(1, termios.TCIOFF); import time; time.sleep(60)",
        "os.setpgid(0, 0) if os.fork() == 0 else None; os.read(0, 1)",
        "import signal; os.killpg(0, signal.SIGSTOP)",
    ],
    ids=["stopped output", "stopped input", "read in the background", "stopped itself"],
)
async def test_who_leaves_it_in_a_bad_way_runs_out_of_time(arena: Arena, ending: str) -> None:
    began = time.monotonic()
    result = await in_terminal(arena, ODD_MODES + ending, stdin=None, wall_ms=700)
    assert result.outcome.ended_by in (EndedBy.WALL_TIME, EndedBy.EXIT)
    assert time.monotonic() - began < 30


async def test_who_keeps_it_does_not_outlive_the_run(arena: Arena) -> None:
    source = """
import os, signal, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        held = [os.dup(0) for _ in range(50)]
        while True: time.sleep(1)
print("done")
"""
    result = await in_terminal(arena, source)
    assert (result.stdout, result.outcome.exit_code) == ("done\r\n", 0)
    assert result.outcome.usage.wall_ms < 15_000


async def test_signals_from_the_keys_stay_in_the_box(arena: Arena) -> None:
    """A background group is made the foreground, over and over, while ^C comes in."""
    source = """
import os, signal, time
for number in (2, 3, 20, 22): signal.signal(number, signal.SIG_IGN)
for _ in range(20):
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpgid(0))
        os._exit(0)
    os.waitpid(child, 0)
    for group in (1, 0x7FFFFFFF):
        try: os.tcsetpgrp(0, group); print("took", group)
        except OSError: pass
    time.sleep(0.01)
print("done")
"""
    result = await in_terminal(arena, source, stdin=b"\x03\x1c\x1a" * 100)
    assert "done" in result.stdout
    assert "took" not in result.stdout

"""Programs that run in a terminal: what they find there, and what their caller can do."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace

import pytest

from coderunner import File, Program, Runner, Settings
from coderunner.engines.base import Engine
from coderunner.engines.docker import DockerEngine
from coderunner.engines.linux import LinuxEngine
from coderunner.engines.process import ProcessEngine
from coderunner.errors import EngineUnavailable, InvalidInput
from coderunner.model import EndedBy, Terminal
from coderunner.workspace import Workspace
from tests.engines.bench import PYTHON, Bench
from tests.engines.talk import in_terminal, talk
from tests.support import require_sandbox

pytestmark = pytest.mark.engines

SH, BASH = "/bin/sh", "/bin/bash"
SHELL = (BASH, "--norc", "--noediting", "-i")  # which says its prompt and reads lines


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require_sandbox()


def python(source: str) -> tuple[str, ...]:
    return (PYTHON, "-I", "-S", "-c", source)


async def test_all_three_streams_are_one_terminal(linux: Bench) -> None:
    source = """
import os, sys
print([os.isatty(fd) for fd in (0, 1, 2)], os.get_terminal_size(), os.environ["TERM"])
print(sys.stdout.line_buffering, os.tcgetpgrp(0) == os.getpgrp() == os.getsid(0) == os.getpid())
print("errors, too", file=sys.stderr)
"""
    outcome = await in_terminal(linux, *python(source), terminal=Terminal(30, 100, "vt100"))
    assert outcome.stdout.text.splitlines() == [
        "[True, True, True] os.terminal_size(columns=100, lines=30) vt100",
        "True True",
        "errors, too",
    ]
    assert outcome.stderr.data == b""
    assert outcome.ok


async def test_it_can_be_opened_by_its_names(linux: Bench) -> None:
    script = """
for name in tty stdin stdout stderr; do echo $name > /dev/$name; done
read one < /dev/tty; read two < /dev/stdin; echo $one $two; ls /dev/pts /dev/ptmx 2>/dev/null
"""
    outcome = await in_terminal(linux, SH, "-c", script, stdin=b"1\n2\n")
    shown = outcome.stdout.text.splitlines()
    assert [line for line in shown if line not in ("1", "2")] == [
        *("tty", "stdin", "stdout", "stderr", "1 2")
    ]


async def test_what_has_no_terminal_finds_none(linux: Bench) -> None:
    """Also beside boxes that have: those that wait for a job are of one kind or the other."""
    for _ in range(3):
        assert (await in_terminal(linux, SH, "-c", "test -t 0 && test -c /dev/tty")).ok
        assert (await linux.sh("test ! -t 0 && test ! -e /dev/tty")).ok


async def test_a_line_is_echoed_and_read(linux: Bench) -> None:
    async with talk(linux, *python("print('hello', input('name? '))")) as program:
        await program.until(b"name? ")
        await program.type(b"Bio\x7fb\n")  # with a slip of the finger
        assert await program.rest() == b"Bio\b \bb\r\nhello Bib\r\n"
        assert (await program.process.wait()).exit_code == 0


@pytest.mark.parametrize("typed", [b"one\ntwo\n", b"one\ntwo"])
async def test_the_end_of_stdin_is_a_key(linux: Bench, typed: bytes) -> None:
    source = "import sys; lines = sys.stdin.read(); print(len(lines.split()))"
    outcome = await in_terminal(linux, *python(source), stdin=typed)
    assert outcome.stdout.text.splitlines()[-1].endswith("2")


async def test_the_end_comes_although_nobody_reads_yet(linux: Bench) -> None:
    """More is typed than a terminal takes at once; lines, since longer ones are cut."""
    lines = b"some words\n" * 20_000
    source = "import sys, time; time.sleep(0.3); print(sum(1 for _ in sys.stdin))"
    outcome = await in_terminal(linux, SH, "-c", f'stty -echo; exec {PYTHON} -c "{source}"')
    assert outcome.stdout.text.splitlines()[-1] == "0"
    argv = (SH, "-c", f'stty -echo; echo ready; exec {PYTHON} -c "{source}"')
    async with talk(linux, *argv) as program:
        await program.until(b"ready")
        await program.type(lines)
        program.process.close_stdin()
        assert (await program.rest()).strip() == b"20000"


async def test_stdin_that_has_ended_takes_no_more(linux: Bench) -> None:
    async with talk(linux, "/bin/sleep", "60") as program:
        program.process.close_stdin()
        program.process.close_stdin()
        with pytest.raises(BrokenPipeError):
            await program.type(b"x")


@pytest.mark.parametrize("by", ["key", "signal"])
async def test_a_shell_is_interrupted_and_goes_on(linux: Bench, by: str) -> None:
    async with talk(linux, *SHELL) as shell:
        await shell.until(b"$ ")
        # What says so is in the foreground already.
        await shell.type(b"sh -c 'echo started; exec sleep 60'\n")
        await shell.until(b"\nstarted\r\n")
        if by == "key":
            await shell.type(b"\x03")
        else:
            shell.process.send_signal(signal.SIGINT)
        await shell.until(b"$ ")
        await shell.type(b"echo code $?; exit 7\n")
        await shell.until(b"code 130\r\n")
        assert (await shell.process.wait()).exit_code == 7


async def test_job_control(linux: Bench) -> None:
    async with talk(linux, *SHELL) as shell:
        await shell.until(b"$ ")
        await shell.type(b"cat\n")
        await shell.type(b"heard\n")
        await shell.until(b"heard\r\nheard\r\n")
        await shell.type(b"\x1a")
        await shell.until(b"Stopped")
        await shell.until(b"$ ")
        await shell.type(b"jobs; fg\n")
        await shell.until(b"cat\r\ncat\r\n")
        await shell.type(b"again\n")
        await shell.until(b"again\r\nagain\r\n")
        await shell.type(b"\x04")
        await shell.type(b"exit\n")
        assert (await shell.process.wait()).exit_code == 0


async def test_a_shell_ends_with_its_stdin(linux: Bench) -> None:
    async with talk(linux, *SHELL) as shell:
        await shell.until(b"$ ")
        shell.process.close_stdin()
        assert (await shell.process.wait()).ended_by is EndedBy.EXIT


async def test_a_read_eval_print_loop_is_interrupted_and_goes_on(linux: Bench) -> None:
    async with talk(linux, PYTHON, "-I", "-S", "-i", "-q") as repl:
        await repl.until(b">>> ")
        await repl.type(b"exec('print(1 / 4)\\nwhile 1: pass')\n")
        await repl.until(b"0.25\r\n")
        repl.process.send_signal(signal.SIGINT)
        await repl.until(b"KeyboardInterrupt")
        await repl.type(b"6 * 7\n")
        await repl.until(b"42\r\n")


async def test_its_size_changes(linux: Bench) -> None:
    source = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
os.write(1, b"up")
while signal.sigwait({signal.SIGWINCH}): print(os.get_terminal_size())
"""
    async with talk(linux, *python(source)) as program:
        await program.until(b"up")
        program.process.resize(10, 40)
        await program.until(b"columns=40, lines=10")
        with pytest.raises(InvalidInput, match="rows and columns"):
            program.process.resize(0, 40)
        program.process.send_signal(signal.SIGWINCH)
        await program.until(b"columns=40, lines=10")


async def test_a_program_that_draws(linux: Bench) -> None:
    source = """
import curses

def draw(screen):
    screen.addstr(2, 3, "drawn at %d by %d" % screen.getmaxyx())
    screen.refresh()
    while (key := screen.getkey()) != "q":
        screen.addstr(4, 3, "KEY " + key)
        screen.refresh()

curses.wrapper(draw)
"""
    terminal = Terminal(20, 60, "xterm")
    async with talk(linux, PYTHON, "-I", "-c", source, terminal=terminal) as program:
        await program.until(b"drawn at 20 by 60")
        await program.type(b"\x1bOA")  # which is one key
        await program.until(b"KEY_UP")
        await program.type(b"q")
        await program.rest()
        assert (await program.process.wait()).exit_code == 0


async def test_a_password_is_not_echoed(linux: Bench) -> None:
    source = "import getpass; print(len(getpass.getpass('secret: ')))"
    async with talk(linux, PYTHON, "-I", "-c", source) as program:
        await program.until(b"secret: ")
        await program.type(b"hunter2\n")
        assert await program.rest() == b"\r\n7\r\n"


async def test_output_just_before_the_exit_arrives_whole(linux: Bench) -> None:
    source = "import os; os.write(1, b'x' * 150_000); os._exit(0)"
    for _ in range(5):
        outcome = await in_terminal(linux, *python(source))
        assert len(outcome.stdout.data) == 150_000


async def test_who_lets_go_of_the_terminal_can_come_back(linux: Bench) -> None:
    script = "exec 0<&- 1>&- 2>&-; sleep 0.2; exec >/dev/tty; echo back"
    outcome = await in_terminal(linux, SH, "-c", script)
    assert outcome.stdout.data == b"back\r\n"


async def test_the_limits_are_those_of_every_run(linux: Bench) -> None:
    flood = await in_terminal(linux, "/usr/bin/yes", flood_bytes=1 << 20, output_bytes=1000)
    assert flood.ended_by is EndedBy.OUTPUT
    assert len(flood.stdout.data) == 1000
    stopped = "stty -tostop; python3 -c 'import termios; termios.tcflow(1, 0)'; echo x; sleep 60"
    silent = await in_terminal(linux, SH, "-c", stopped, wall_ms=700)
    assert (silent.ended_by, silent.stdout.data) == (EndedBy.WALL_TIME, b"")


async def test_nobody_waits_for_who_keeps_the_terminal(linux: Bench) -> None:
    script = "trap '' HUP; (setsid sleep 60 &); sleep 60 & exec 3<>/dev/tty; echo done"
    outcome = await in_terminal(linux, SH, "-c", script)
    assert (outcome.exit_code, outcome.stdout.data) == (0, b"done\r\n")
    assert outcome.usage.wall_ms < 15_000


async def test_many_at_once(linux: Bench) -> None:
    runs = (in_terminal(linux, SH, "-c", f"stty size; echo {n}") for n in range(12))
    shown = [outcome.stdout.text.split() for outcome in await asyncio.gather(*runs)]
    assert shown == [["24", "80", str(n)] for n in range(12)]


async def test_a_warm_interpreter_would_not_do() -> None:
    program = Program("python", (File("main.py", b"import sys; print(sys.stdout.line_buffering)"),))
    async with Runner.open(Settings(engine="linux")) as runner:
        assert await runner.warm_up("python")
        async with runner.build(program) as build:
            runs = [await build.run(terminal=one) for one in (None, Terminal(), None)]
    assert [(run.stdout.strip(), run.outcome.warm) for run in runs] == [
        *(("False", True), ("True", False), ("False", True))
    ]


@pytest.mark.parametrize("make", [DockerEngine, ProcessEngine])
async def test_an_engine_without_terminals_says_so(make: type[Engine]) -> None:
    engine = make()
    with Workspace() as workspace:
        job = replace(Bench(engine, workspace).job("/bin/true"), terminal=Terminal())
        with pytest.raises(EngineUnavailable, match="has no terminals") as refused:
            await engine.start(job)
    assert "linux engine" in refused.value.hint
    await engine.aclose()


async def test_a_program_without_a_terminal_has_no_size(linux: Bench) -> None:
    process = await linux.engine.start(linux.job("/bin/true"))
    with pytest.raises(InvalidInput, match="no terminal"):
        process.resize(10, 10)
    await process.close()


def test_engines_say_what_they_can() -> None:
    found = {one.name: (one.signals, one.terminals) for one in (LinuxEngine, ProcessEngine)}
    assert found == {"linux": (True, True), "process": (True, False)}

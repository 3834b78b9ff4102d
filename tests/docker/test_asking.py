"""Who is outside a container asks its warden to end. No program can do so, or keep it from that."""

from __future__ import annotations

import asyncio

import pytest

from coderunner.model import EndedBy
from tests.engines.bench import Bench

pytestmark = [pytest.mark.engines, pytest.mark.as_root]

_FLOOD = (
    "import os, time\n"
    "for _ in range(6):\n"
    "    if not os.fork():\n"
    "        while True: os.kill(1, 15)\n"
)


async def test_a_signal_of_which_nobody_says_who_has_sent_it(bench: Bench) -> None:
    """Once no more signals can wait, the kernel says so of none."""
    source = (
        "import ctypes, os, signal, struct\n"
        "syscall = ctypes.CDLL(None).syscall\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [40])\n"
        "def queue(pid, number):\n"
        "    who = struct.pack('iiiiii', number, 0, -1, 0, os.getpid(), os.getuid())\n"
        "    return syscall(129, pid, number, ctypes.create_string_buffer(who, 128))\n"
        "waiting = 0\n"
        "while not queue(os.getpid(), 40): waiting += 1\n"
        "print(waiting > 100, [queue(1, 15) for _ in range(3)], flush=True)\n"
        "signal.sigtimedwait([41], 0.3)\n"
        "print('whole')"
    )
    outcome = await bench.python(source)
    assert outcome.stdout.data == b"True [0, 0, 0]\nwhole\n", outcome
    assert outcome.ended_by is EndedBy.EXIT


async def test_a_program_that_never_stops_asking(bench: Bench) -> None:
    """Signals of one kind do not queue, so the one from outside must be another one."""
    for _ in range(2):
        process = await bench.engine.start(
            bench.job("/usr/bin/python3", "-c", f"{_FLOOD}print(1, flush=True)\ntime.sleep(60)")
        )
        await asyncio.sleep(0.5)
        process.kill()
        assert (await process.wait()).ended_by is EndedBy.KILLED
        await process.close()
    flood = await bench.python(f"{_FLOOD}while True: os.write(1, bytes(1 << 16))")
    assert flood.ended_by is EndedBy.OUTPUT
    late = await bench.python(f"{_FLOOD}time.sleep(60)", wall_ms=700)
    assert late.ended_by is EndedBy.WALL_TIME


async def test_the_signal_that_asks_is_nobody_elses(bench: Bench) -> None:
    source = (
        "import ctypes, fcntl, os, signal, threading\n"
        "file = os.pidfd_open(1)\n"
        "for attempt in (\n"
        "    lambda: os.kill(1, 64),\n"
        "    lambda: os.kill(os.getpid(), 64),\n"
        "    lambda: signal.pidfd_send_signal(file, 64),\n"
        "    lambda: signal.pthread_kill(threading.get_ident(), 64),\n"
        "    lambda: fcntl.fcntl(1, 10, 64),\n"
        "):\n"
        "    try: attempt(); print('it was sent')\n"
        "    except PermissionError: pass\n"
        "fcntl.fcntl(1, 10, 63)\n"
        "signal.signal(63, lambda *_: print('mine'))\n"
        "os.kill(os.getpid(), 63)"
    )
    outcome = await bench.python(source)
    assert (outcome.stdout.data, outcome.stderr.data) == (b"mine\n", b""), outcome

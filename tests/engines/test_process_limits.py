"""The process engine: every limit, and what does not count against it."""

from __future__ import annotations

import signal

import pytest

from coderunner.model import EndedBy, Limits
from tests.engines.process_runs import Run

pytestmark = pytest.mark.engines


async def test_wall_time(run: Run) -> None:
    ended, out, _ = await run.shell("echo before; sleep 60", limits=Limits(wall_ms=300))
    assert (ended.ended_by, ended.exit_code) == (EndedBy.WALL_TIME, None)
    assert 300 <= ended.usage.wall_ms < 1500
    assert out.data == b"before\n"


async def test_cpu_time(run: Run) -> None:
    limits = Limits(wall_ms=20_000, cpu_ms=300)
    ended, _, _ = await run.python("while True: pass", limits=limits)
    assert ended.ended_by is EndedBy.CPU_TIME
    assert 300 <= ended.usage.cpu_ms < 1500


async def test_cpu_time_of_many_short_children_counts(run: Run) -> None:
    limits = Limits(wall_ms=20_000, cpu_ms=300)
    loop = "while :; do (i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done); done"
    ended, _, _ = await run.shell(loop, limits=limits)
    assert ended.ended_by is EndedBy.CPU_TIME


async def test_sleeping_costs_no_cpu_time(run: Run) -> None:
    ended, _, _ = await run.shell("sleep 0.5", limits=Limits(cpu_ms=300))
    assert ended.ended_by is EndedBy.EXIT
    assert ended.usage.cpu_ms < 300


async def test_memory(run: Run) -> None:
    source = "x = []\nwhile True: x.append(bytearray(1_000_000))"
    ended, _, _ = await run.python(source, limits=Limits(memory_mb=64))
    assert ended.ended_by is EndedBy.MEMORY
    assert 64 * 1024 < ended.usage.memory_peak_kb < 512 * 1024


async def test_memory_that_a_fork_shares_counts_once(run: Run) -> None:
    source = (
        "import os, time\nx = bytearray(os.urandom(1_000_000) * 50)\n"
        "pids = [os.fork() for _ in range(2)]\ntime.sleep(0.3)"
    )
    ended, _, _ = await run.python(source, limits=Limits(memory_mb=128))
    assert (ended.ended_by, ended.exit_code) == (EndedBy.EXIT, 0)


async def test_mapping_a_terabyte_untouched_is_harmless(run: Run) -> None:
    ended, _, _ = await run.python(
        "import mmap\n"
        "flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE\n"
        "m = mmap.mmap(-1, 1 << 40, flags=flags); m[0] = 1"
    )
    assert ended.exit_code == 0


async def test_address_space_only_when_asked_for(run: Run) -> None:
    source = "import resource; print(resource.getrlimit(resource.RLIMIT_AS)[0])"
    _, out, _ = await run.python(source, limits=Limits(address_space_mb=1000))
    assert int(out.text) == 1000 << 20
    _, out, _ = await run.python(source)
    assert int(out.text) == -1


async def test_threads_count_as_processes(run: Run) -> None:
    source = (
        "import threading, time\n"
        "for _ in range(30): threading.Thread(target=time.sleep, args=(60,)).start()"
    )
    ended, _, _ = await run.python(source, limits=Limits(processes=10, wall_ms=20_000))
    assert ended.ended_by is EndedBy.PROCESSES


@pytest.mark.parametrize("each", ["pass", "os.setsid()"])
async def test_a_fork_bomb(run: Run, each: str) -> None:
    """With 300 forks to spend, so that a broken engine does not take the machine along."""
    source = (
        "import os, time\n"
        "r, w = os.pipe(); os.write(w, bytes(300)); os.close(w)\n"
        "while os.read(r, 1):\n"
        "  if os.fork() == 0: " + each + "\n"
        "time.sleep(30)"
    )
    limits = Limits(processes=32, memory_mb=2048, wall_ms=10_000)
    ended, _, _ = await run.python(source, limits=limits)
    assert ended.ended_by is EndedBy.PROCESSES
    assert ended.usage.wall_ms < 5_000


async def test_rlimits(run: Run) -> None:
    limits = Limits(open_files=50, disk_mb=1, stack_mb=16, cpu_ms=2500)
    source = (
        "import resource as r\n"
        "for k in 'NOFILE', 'FSIZE', 'STACK', 'CORE', 'CPU':\n"
        "  print(k, *r.getrlimit(getattr(r, 'RLIMIT_' + k)))"
    )
    _, out, _ = await run.python(source, limits=limits)
    assert out.text.splitlines() == [
        "NOFILE 50 50",
        "FSIZE 1048576 1048576",
        "STACK 16777216 16777216",
        "CORE 0 0",
        "CPU 4 5",
    ]


async def test_a_file_that_grows_too_large(run: Run) -> None:
    ended, _, _ = await run("/bin/dd", "if=/dev/zero", "of=big", "bs=1M", "count=50", "status=none")
    assert ended.exit_code == 0
    ended, _, _ = await run(
        "/bin/dd", "if=/dev/zero", "of=big", "bs=1M", "count=5", limits=Limits(disk_mb=2)
    )
    assert (ended.ended_by, ended.signal) == (EndedBy.SIGNAL, signal.SIGXFSZ)


async def test_a_flood_of_output(run: Run) -> None:
    limits = Limits(flood_bytes=1_000_000, output_bytes=1000)
    ended, out, _ = await run("/usr/bin/yes", limits=limits)
    assert ended.ended_by is EndedBy.OUTPUT
    assert len(out.data) == 1000
    assert out.dropped > 900_000


async def test_cpu_time_of_what_was_left_running_is_counted(run: Run) -> None:
    """Also of children that nobody waited for."""
    source = """
import os, time
child = os.fork()
while not child: pass
def used(): return sum(map(int, open(f"/proc/{child}/stat").read().split()[13:15]))
while used() < 0.25 * os.sysconf("SC_CLK_TCK"): time.sleep(0.01)
"""
    ended, _, _ = await run.python(source)
    assert ended.usage.cpu_ms > 200

"""Tricks that once worked, or would have: each found by attacking this very code."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from coderunner import run
from coderunner.execution import execute
from coderunner.model import EndedBy, File, Mount
from tests.engines.bench import Bench
from tests.support import require_sandbox, require_toolchain

pytestmark = pytest.mark.engines


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    require_sandbox()


async def compiled(bench: Bench, source: str) -> None:
    """Put a C program into the workspace, compiled outside of the box under test."""
    require_toolchain("c")
    result = await asyncio.to_thread(run, source, language="c", collect=["program"])
    assert result.compilation is not None
    assert result.compilation.ok, result.stderr
    bench.workspace.add([*result.files], mode=0o755)


async def test_process_1_cannot_be_starved(linux: Bench) -> None:
    source = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def refused(done): return done == -1 and ctypes.get_errno() == 1
print(refused(libc.setpriority(0, 1, 19)), refused(libc.setpriority(2, 0, 19)))
for call in (lambda: os.sched_setaffinity(1, {0}),
             lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))):
    try:
        call()
    except PermissionError:
        print(True)
os.sched_setaffinity(0, os.sched_getaffinity(0))
os.nice(1)
"""
    outcome = await linux.python(source)
    assert (outcome.stdout.text.split(), outcome.stderr.text) == (["True"] * 4, "")


async def test_standard_streams_can_be_opened_by_name(linux: Bench) -> None:
    outcome = await linux.sh("cat /dev/stdin > /dev/stdout; echo e > /dev/stderr", stdin=b"hi")
    assert (outcome.stdout.data, outcome.stderr.data) == (b"hi", b"e\n")


async def test_files_of_the_host_cannot_be_watched(linux: Bench) -> None:
    source = """
import ctypes, errno, fcntl, os
libc = ctypes.CDLL(None, use_errno=True)
print(libc.inotify_init1(0), errno.errorcode[ctypes.get_errno()])
try:
    fcntl.fcntl(os.open("/usr", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)
except OSError as error:
    print(error.errno)
"""
    assert (await linux.python(source)).stdout.text == "-1 ENOSYS\n1\n"


async def test_cpu_time_of_children_that_nobody_waits_for(linux: Bench) -> None:
    source = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if not os.fork():
        end = time.process_time() + 0.08
        while time.process_time() < end: pass
        os._exit(0)
    time.sleep(0.05)
"""
    outcome = await linux.python(source, cpu_ms=500, wall_ms=15_000)
    assert outcome.ended_by is EndedBy.CPU_TIME


MEMORY = {
    "page tables": """
#include <sys/mman.h>
int main(){for(;;){volatile char*p=mmap(0,1L<<30,1,0x4022,-1,0);
for(long i=0;i<1L<<30;i+=1<<21)(void)p[i];}}""",
    "unix sockets": """
#include <sys/socket.h>
#include <unistd.h>
char b[200000];
int main(){for(int n=0;n<12;n++)if(!fork()){for(;;){int s[2];if(socketpair(1,5,0,s))break;
setsockopt(s[0],1,7,&(int){1<<20},4);while(send(s[0],b,sizeof b,64)>0);}sleep(20);}sleep(20);}""",
    "tcp sockets": """
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
char b[200000];
int main(){int l=socket(2,1,0);struct sockaddr_in a={2};a.sin_addr.s_addr=htonl(0x7f000001);
socklen_t n=sizeof a;bind(l,(void*)&a,n);listen(l,512);getsockname(l,(void*)&a,&n);
for(int p=0;p<8;p++)if(!fork()){for(int i=0;i<200;i++){int c=socket(2,1,0);
if(c<0||connect(c,(void*)&a,n))break;while(send(c,b,sizeof b,64)>0);}sleep(20);}
for(int i=0;i<1600;i++)accept(l,0,0);sleep(20);}""",
}


@pytest.mark.parametrize("kind", ["page tables", "unix sockets"])
async def test_memory_of_every_kind_counts(linux: Bench, kind: str) -> None:
    await compiled(linux, MEMORY[kind])
    outcome = await linux.run("./program", memory_mb=64, wall_ms=15_000)
    assert outcome.ended_by is EndedBy.MEMORY


def memory_of_sockets_kb() -> int:
    with open("/proc/net/sockstat", encoding="ascii") as file:
        [tcp] = [line.split() for line in file if line.startswith("TCP:")]
    return int(tcp[tcp.index("mem") + 1]) * os.sysconf("SC_PAGE_SIZE") // 1024


async def test_tcp_buffers_stay_small(linux: Bench) -> None:
    await compiled(linux, MEMORY["tcp sockets"])
    source = linux.job("./program", memory_mb=64, wall_ms=4_000)
    process = await linux.engine.start(source)
    process.close_stdin()
    largest = 0
    waiting = asyncio.ensure_future(process.wait())
    while not waiting.done():
        largest = max(largest, memory_of_sockets_kb())
        await asyncio.sleep(0.05)
    await process.close()
    assert largest < 600 * 1024  # it was 2.4 GB


async def test_a_small_limit_is_not_broken_by_a_small_program(linux: Bench) -> None:
    for _ in range(5):
        outcome = await linux.sh("echo hi", memory_mb=4)
        assert (outcome.ended_by, outcome.stdout.data) == (EndedBy.EXIT, b"hi\n")


async def test_cgroup_paths_of_the_host_are_not_shown(linux: Bench) -> None:
    lines = (await linux.sh("cat /proc/self/cgroup")).stdout.text.split()
    assert {line.split(":", 2)[2] for line in lines} == {"/"}


async def test_ordinary_tools_work(linux: Bench) -> None:
    linux.workspace.add([File("Makefile", b"all:\n\t@echo made\n")])
    assert (await linux.sh("command -v make >/dev/null || { echo made; exit; }; make")).ok
    outcome = await linux.python(
        "import os, resource, time\n"
        "os.setuid(os.getuid()); os.setresgid(-1, os.getgid(), -1)\n"
        "resource.setrlimit(resource.RLIMIT_STACK, (-1, -1))\n"
        "print(time.tzname[0])\n"
    )
    assert (outcome.stdout.text, outcome.stderr.text) == ("UTC\n", "")


async def test_a_box_that_shows_hundreds_of_paths(linux: Bench) -> None:
    """Its plan is larger than any packet."""
    mounts = tuple(Mount(Path("/usr/share"), f"/tmp/many/places/{n}") for n in range(700))
    job = replace(linux.job("/bin/sh", "-c", "ls /tmp/many/places | wc -l"), mounts=mounts)
    outcome = await execute(linux.engine, job)
    assert outcome.stdout.data == b"700\n", outcome


@pytest.mark.as_root
@pytest.mark.parametrize("cpus", ["", "--cpus=1"])
def test_no_program_is_real_time(cpus: str) -> None:
    code = "import os; print(os.sched_getscheduler(0) == os.SCHED_OTHER)"
    asked = [sys.executable, "-m", "coderunner", "run", "-l", "python", "-c", code]
    done = subprocess.run(
        ["chrt", "-r", "5", *asked, *filter(None, [cpus])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "True\n", done.stderr


@pytest.mark.parametrize("priority", [0, 7])
async def test_a_program_has_the_priority_of_its_caller(priority: int) -> None:
    """Whatever precedence the spawner takes."""
    start = ("nice", "-n", str(priority)) if priority else ()
    source = (
        "import asyncio\n"
        "from coderunner.engines.linux import LinuxEngine\n"
        "from coderunner.workspace import Workspace\n"
        "from tests.engines.bench import Bench\n"
        "async def main():\n"
        "    with Workspace() as workspace:\n"
        "        engine = LinuxEngine()\n"
        "        outcome = await Bench(engine, workspace).sh('nice')\n"
        "        print(outcome.stdout.text.strip())\n"
        "        await engine.aclose()\n"
        "asyncio.run(main())\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [*start, sys.executable, "-c", source]
    done = await asyncio.to_thread(
        subprocess.run, command, env=env, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == f"{priority}\n", done.stderr

"""The process engine: what goes into a program, what comes out, and where it runs."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from coderunner.capture import communicate
from coderunner.engines.process import ProcessEngine
from coderunner.model import EndedBy, File, Job, Limits
from coderunner.workspace import Workspace, collect
from tests.engines.process_runs import ENV, Run

pytestmark = pytest.mark.engines


async def test_streams_and_exit_code(run: Run) -> None:
    ended, out, err = await run.shell("cat; echo oops >&2; exit 3", stdin=b"hello\n")
    assert (ended.ended_by, ended.exit_code, ended.signal) == (EndedBy.EXIT, 3, None)
    assert (out.data, err.data) == (b"hello\n", b"oops\n")
    assert ended.usage.cpu_ms > 0
    assert 0 < ended.usage.wall_ms < 20_000
    assert ended.usage.memory_peak_kb > 0


async def test_a_megabyte_goes_in_and_out(run: Run) -> None:
    data = os.urandom(1_000_000)
    _, out, _ = await run("/bin/cat", stdin=data)
    assert out.data == data


async def test_the_environment_is_exactly_the_jobs(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "token")
    _, out, _ = await run("/usr/bin/env", env={"É": "ü ö"})
    names = dict(line.split("=", 1) for line in out.text.splitlines())
    assert set(names) == {"PATH", "É", "HOME", "TMPDIR"}
    assert names["É"] == "ü ö"


async def test_home_and_tmp_can_be_written_and_the_workspace_is_a_copy(run: Run) -> None:
    run.workspace.add([File("data/in.txt", b"original")])
    ended, out, _ = await run.shell(
        "echo 1 > $HOME/h && echo 1 > $TMPDIR/t && cat data/in.txt && echo changed > data/in.txt"
    )
    assert (ended.exit_code, out.data) == (0, b"original")
    assert (run.workspace.path / "data/in.txt").read_bytes() == b"original"


async def test_the_workspace_can_be_collected(
    process_engine: ProcessEngine, workspace: Workspace
) -> None:
    workspace.add([File("in.txt", b"in")])
    argv = ("/bin/sh", "-c", "echo made > made.txt; ln -s /etc/passwd link")
    process = await process_engine.start(Job(argv, workspace.path, ENV, collect=True))
    await communicate(process, stdin=None, limits=Limits())
    found = collect(process.workspace_fd(), ["**"])
    await process.close()
    assert {file.name: file.content for file in found.files} == {
        "in.txt": b"in",
        "made.txt": b"made\n",
    }
    assert [skipped.name for skipped in found.skipped] == ["link"]


async def test_no_fd_is_inherited(run: Run) -> None:
    leaky = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(leaky, True)
    _, out, _ = await run.python("import os; print(sorted(os.listdir('/proc/self/fd')))")
    os.close(leaky)
    assert out.text.strip() == "['0', '1', '2', '3']"  # 3 is the listing itself


async def test_signals_start_out_as_usual(run: Run) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        _, out, _ = await run("/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    # 32 and 33 are the C library's own: a parent may hand them down, and nobody can change them.
    changeable = ~(0b11 << 31)
    assert [int(line.split()[1], 16) & changeable for line in out.text.splitlines()] == [0, 0]


async def test_many_at_once(process_engine: ProcessEngine, workspace: Workspace) -> None:
    run = Run(process_engine, workspace)
    results = await asyncio.gather(*(run.shell(f"echo {n}") for n in range(20)))
    assert [out.text for _, out, _ in results] == [f"{n}\n" for n in range(20)]

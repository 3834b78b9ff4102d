"""If a source could make its compiler do anything at all: what could it do?

No built-in compiler runs the code it compiles. So here is a language whose compiler is a shell that
does what the source says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from coderunner import Runner
from coderunner.model import EndedBy, File, Isolation, Limits, Program, Result
from tests.engines.every import settings_for_tests
from tests.hostile.arena import Arena
from tests.hostile.conftest import ENGINES
from tests.support import require_sandbox

pytestmark = pytest.mark.hostile

LANGUAGE = """
name = "obedient"
title = "Obedient"
extensions = [".obey"]
source = "main.obey"
compile = ["{bash}", "{main}"]
artifacts = ["program", "made/**"]
run = ["{bash}", "-c", "{look}"]
version = ["{bash}", "--version"]
hello = "echo 'echo Hello from Obedient' > program"

[scripts]
look = "[ -f program ] && cat program; find made -type f 2>/dev/null; find /tmp -mindepth 1"

[tools.bash]
names = ["bash"]
apt = "bash"
"""


@pytest.fixture(params=ENGINES)
async def arena(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Arena]:
    if request.param == "linux":
        require_sandbox()
    (tmp_path / "obedient.toml").write_text(LANGUAGE)
    settings = settings_for_tests(
        request, request.param, min_isolation=Isolation.SAMPLED, languages_dir=tmp_path
    )
    async with Runner.open(settings) as runner:
        yield Arena(runner, await runner.engine.capabilities())


async def compiled(arena: Arena, script: str, **limits: int) -> Result:
    program = Program("obedient", (File("main.obey", script.encode()),))
    return await arena.run(program, compile_limits=Limits().but(limits))


LIMITS = {
    "sleep 60": ({"wall_ms": 500}, EndedBy.WALL_TIME),
    "while :; do :; done": ({"cpu_ms": 200}, EndedBy.CPU_TIME),
    "x=hostile; while :; do x=$x$x; done": ({"memory_mb": 32}, EndedBy.MEMORY),
    "bomb() { bomb | bomb & }; bomb; sleep 20": ({"processes": 32}, EndedBy.PROCESSES),
    "yes": ({"flood_bytes": 1_000_000}, EndedBy.OUTPUT),
    "yes >&2": ({"flood_bytes": 1_000_000}, EndedBy.OUTPUT),
}


@pytest.mark.parametrize("script", LIMITS)
async def test_limits_hold(arena: Arena, script: str) -> None:
    limits, ended_by = LIMITS[script]
    result = await compiled(arena, script, **limits)
    assert (result.execution, result.outcome.ended_by) == (None, ended_by)


async def test_what_it_leaves_running_is_dead(arena: Arena) -> None:
    """The arena looks for processes, the time limit for a compiler that is waited for."""
    result = await compiled(
        arena, "setsid sleep 50 & setsid bash -c 'sleep 50' </dev/null >/dev/null 2>&1 & exit 0"
    )
    assert result.ok, result.stderr


async def test_it_reaches_no_network(arena: Arena) -> None:
    script = "for host in 127.0.0.1/22 1.1.1.1/53; do : < /dev/tcp/$host && echo reached; done"
    result = await compiled(arena, f"{script}; exit 0")
    assert result.compilation is not None
    assert (result.compilation.stdout.text, result.ok) == ("", True)


# What may lie where the program is expected, and what of it must never get there.
ODD_ARTIFACTS = {
    "symlink": "ln -s /etc/passwd program",
    "symlink to the host": "ln -s /proc/1/environ program",
    "symlink to itself": "ln -s program program",
    "fifo": "mkfifo program",
    "directory": "mkdir program; echo hostile > program/file",
    "socket": "perl -MSocket -e 'socket S, AF_UNIX, SOCK_STREAM, 0; bind S, sockaddr_un shift'"
    " program",
    "symlinked directory": "ln -s /etc made",
    "directory that is above": "mkdir made; ln -s .. made/above",
}


@pytest.mark.parametrize("kind", ODD_ARTIFACTS)
async def test_odd_artifacts_are_left_out(arena: Arena, kind: str) -> None:
    result = await compiled(arena, ODD_ARTIFACTS[kind])
    assert result.execution is not None
    assert result.execution.stdout.text == ""


async def test_sparse_artifacts_are_capped(arena: Arena) -> None:
    """Thirty files of 8 MB each, with nothing in them; the next step gets what fits."""
    script = "mkdir made; for i in {1..30}; do truncate --size 8M made/$i; done"
    result = await compiled(arena, script, disk_mb=8)
    assert result.execution is not None
    assert len(result.execution.stdout.text.split()) <= 1


async def test_one_huge_artifact_is_refused(arena: Arena) -> None:
    result = await compiled(arena, "truncate --size 1T program || echo refused", disk_mb=8)
    assert result.compilation is not None
    assert (
        result.compilation.ended_by is EndedBy.SIGNAL or "refused" in result.compilation.stdout.text
    )


async def test_the_run_sees_nothing_else_of_it(arena: Arena) -> None:
    result = await compiled(arena, "echo hostile > /tmp/left; echo hostile > other; touch program")
    assert result.execution is not None
    assert (result.ok, result.execution.stdout.text) == (True, "")

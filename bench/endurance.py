"""Many runs in one process: is the last thousand as fast as the first, and is anything left over?

    .venv/bin/python bench/endurance.py                 # 10,000 runs
    .venv/bin/python bench/endurance.py --runs 100000

Prints a line per thousand runs: how many per second, what the caller and the spawner with all its
children weigh, and how many descriptors, mounts, cgroups, processes and zombies there are. Those of
the first and last line are counted at rest, when the boxes made ahead are gone. Exit code 1 if
there are more of any at the end than there were at the beginning.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)  # so that `bench` is a package

from bench import tasks
from bench.lab import check_outcome
from bench.measure import Once
from bench.processes import descendants, mounts, open_fds, rss_kb, zombies
from coderunner.errors import CodeRunnerError
from coderunner.model import File, Program
from coderunner.runner import Runner
from coderunner.settings import Settings

_LINE = 1000
_CGROUPS = Path("/sys/fs/cgroup")
_REST_SECONDS = 12.0  # boxes that stand ready are ended when nobody wants them for ten
_COLUMNS = (
    "runs", "per s", "cold", "caller MB", "spawner MB", "caller fds", "spawner fds", "mounts",
    "cgroups", "processes", "zombies",
)  # fmt: skip


@dataclass(frozen=True)
class State:
    """What there is at one moment. All but the memory should be the same before and after."""

    caller_mb: float
    spawner_mb: float
    caller_fds: int
    spawner_fds: int
    mounts: int
    cgroups: int
    processes: int
    zombies: int

    @property
    def counts(self) -> dict[str, int]:
        names = ("caller_fds", "spawner_fds", "mounts", "cgroups", "processes", "zombies")
        return {name: getattr(self, name) for name in names}


def state() -> State:
    caller = os.getpid()
    others = descendants(caller)
    return State(
        caller_mb=rss_kb(caller) / 1024,
        spawner_mb=sum(map(rss_kb, others)) / 1024,
        caller_fds=open_fds(caller),
        spawner_fds=sum(map(open_fds, others)),
        mounts=sum(map(mounts, (caller, *others))),
        cgroups=cgroups(others),
        processes=len(others),
        zombies=zombies(others),
    )


def cgroups(spawners: Sequence[int]) -> int:
    """The directories that these have made for their boxes: each has its process id in the name."""
    ours = tuple(f"coderunner-{pid}-" for pid in spawners)
    return sum(
        any(part.startswith(ours) for part in Path(folder).parts) if ours else 0
        for folder, _, _ in os.walk(_CGROUPS)
    )


def grown(before: State, after: State) -> list[str]:
    """What there is more of, in words."""
    return [
        f"{name}: {before.counts[name]} at the beginning, {count} at the end"
        for name, count in after.counts.items()
        if count > before.counts[name]
    ]


class Table:
    """Lines that can be read while it runs, and by a program."""

    def __init__(self) -> None:
        print("  ".join(_COLUMNS), flush=True)

    def row(self, runs: int, per_second: str, cold: int, now: State) -> None:
        values = [
            str(runs), per_second, str(cold), f"{now.caller_mb:.1f}", f"{now.spawner_mb:.1f}",
            *map(str, now.counts.values()),
        ]  # fmt: skip
        cells = zip(_COLUMNS, values, strict=True)
        print("  ".join(value.rjust(len(name)) for name, value in cells), flush=True)


async def endure(runs: int, parallel: int, *, rest_seconds: float = _REST_SECONDS) -> list[str]:
    """What has grown, in words."""
    program = Program("python", (File("main.py", tasks.PYTHON.text.encode()),))
    async with Runner.open(Settings()) as runner:

        async def once() -> bool:
            return check_outcome((await runner.run(program)).outcome, tasks.PYTHON.prints)

        await runner.warm_up("python")
        await batch(once, _LINE // 10, parallel)  # everything that is made once is there now
        await asyncio.sleep(rest_seconds)
        table, before = Table(), state()
        table.row(0, "", 0, before)
        done = 0
        while done < runs:
            count = min(_LINE, runs - done)
            began = time.perf_counter()
            warm = await batch(once, count, parallel)
            rate = count / (time.perf_counter() - began)
            done += count
            table.row(done, f"{rate:.1f}", count - warm, state())
        await asyncio.sleep(rest_seconds)
        after = state()
        table.row(done, "", 0, after)
    return grown(before, after)


async def batch(once: Once, count: int, parallel: int) -> int:
    """So many runs; how many of them were warm."""
    left, warm = itertools.repeat(None, count), 0

    async def worker() -> None:
        nonlocal warm
        for _ in left:
            ran_warm = await once()  # first, since the sum may change meanwhile
            warm += ran_warm

    await asyncio.gather(*(worker() for _ in range(parallel)))
    return warm


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bench/endurance.py", description="Many runs: is anything slower or left over?"
    )
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--parallel", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    try:
        more = asyncio.run(endure(options.runs, options.parallel))
    except CodeRunnerError as error:
        print(f"error: {error.message}\nhint: {error.hint}", file=sys.stderr)
        return 1
    left = descendants(os.getpid())
    print(
        *(f"grown: {words}" for words in more),
        *([f"left running: {left}"] if left else []),
        sep="\n",
    )
    if not more and not left:
        print("nothing has grown, and nothing is left running")
    return 1 if more or left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

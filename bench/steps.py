"""What each step of a box's start costs: `.venv/bin/python bench/steps.py [--deep] [--all]`.

Runs one C program again and again in a spawner whose functions have clocks (`probe.py`), and prints
two things: the road of one run from the caller and back, gap by gap; and, as a tree, what every
function on that road took. The clocks cost about a microsecond per call.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import mmap
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)  # so that `bench` is a package

from rich import box
from rich.console import Console
from rich.table import Table

from bench import bare, probe
from bench.lab import Lab, Missing, check_outcome
from coderunner.engines.linux import client
from coderunner.engines.linux.engine import LinuxEngine
from coderunner.execution import execute
from coderunner.model import Job

_ENTRY = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.argv += [{path!r}, {depth!r}]; "
    "exec(compile(open({probe!r}).read(), {probe!r}, 'exec'))"
)
_MODULE = "coderunner.engines.linux.client"
_TRIVIAL_US = 8.0
_WARMUPS = 20
# Moving a process between cgroups is cheap if somebody just did it, and else waits for an RCU grace
# period. Runs back to back would hide that.
_PAUSE_HELP = "between two runs (default 30): some steps are cheap only back to back"

Steps = tuple[str, ...]


@dataclass(frozen=True)
class Stamp:
    name: str
    begin: bool
    at_ns: int


@dataclass
class Run:
    """The stamps of one run, by who made them, in the order of time."""

    caller: list[Stamp]
    spawner: list[Stamp]
    box: list[Stamp]


class Memory:
    """Our view of what the probe writes."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(probe.SIZE))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), probe.SIZE)

    def clear(self) -> None:
        for half in (probe.SPAWNER, probe.BOX):
            probe.COUNT.pack_into(self._map, half * probe.HALF, 0)

    def stamps(self, half: int) -> list[Stamp]:
        names = self._names()
        base = half * probe.HALF
        (count,) = probe.COUNT.unpack_from(self._map, base)
        first = base + probe.COUNT.size
        data = self._map[first : first + count * probe.STAMP.size]
        return [Stamp(names[i], bool(b), at) for i, b, at in probe.STAMP.iter_unpack(data)]

    def _names(self) -> list[str]:
        (length,) = probe.COUNT.unpack_from(self._map, probe.NAMES_AT)
        start = probe.NAMES_AT + probe.COUNT.size
        return self._map[start : start + length].decode().split("\n")


class CallerClock:
    """The same for the caller's side, where a list will do."""

    def __init__(self) -> None:
        self.stamps: list[Stamp] = []

    def mark(self, name: str, begin: bool) -> None:
        self.stamps.append(Stamp(name, begin, time.monotonic_ns()))

    def wrap(self, owner: type, name: str) -> None:
        function: Callable[..., Any] = getattr(owner, name)

        def clocked(*args: Any) -> Any:
            self.mark(name, True)
            try:
                return function(*args)
            finally:
                self.mark(name, False)

        setattr(owner, name, clocked)


async def record(runs: int, warmups: int, *, pause_s: float, deep: bool, folder: Path) -> list[Run]:
    memory, clock = Memory(folder / "stamps"), CallerClock()
    entry = {"path": str(folder / "stamps"), "depth": "deep" if deep else "plain"}
    vars(client)["_START"] = _ENTRY.format(probe=probe.__file__, **entry)
    clock.wrap(client.Spawner, "_flush")
    clock.wrap(client.Spawner, "_on_readable")
    async with Lab() as lab:
        compiler = (await lab.toolchain("c")).tools["cc"]
        workspace = lab.folder({"main.c": "int main(void) { return 0; }\n"})
        source = workspace / "main.c"
        bare.run([compiler, "-O2", "-o", str(workspace / "program"), str(source)])
        source.unlink()
        job = Job(argv=("./program",), workspace=workspace, env=bare.ENVIRONMENT)
        engine = LinuxEngine()
        try:
            recorded = []
            for _ in range(warmups + runs):
                await asyncio.sleep(pause_s)
                recorded.append(await _one(engine, job, memory, clock))
        finally:
            await engine.aclose()
    return recorded[warmups:]


async def _one(engine: LinuxEngine, job: Job, memory: Memory, clock: CallerClock) -> Run:
    await engine.capabilities()  # so that the spawner is there
    memory.clear()
    clock.stamps = []
    clock.mark("execute", True)
    outcome = await execute(engine, job)
    clock.mark("execute", False)
    check_outcome(outcome, b"")
    return Run(clock.stamps, memory.stamps(probe.SPAWNER), memory.stamps(probe.BOX))


def road(run: Run) -> Iterator[tuple[str, int]]:
    """The stations that one run passes, in order, with their time."""
    caller, spawner, inside = run.caller, run.spawner, run.box
    for text, stamps, name, begin in (
        ("caller: execute() called", caller, "execute", True),
        ("caller: request ready (pipes, JSON)", caller, "_flush", True),
        ("spawner: awake", spawner, "spawner.read_channel", True),
        ("spawner: about to clone (tmpfs, cgroup, pipes)", spawner, probe.CLONE, True),
        ("box: born (clone: new pid, net, ipc, uts namespaces)", inside, probe.BORN, True),
        ("box: set up and walled in", inside, "posix_spawn", True),
        ("box: program started (posix_spawn)", inside, "posix_spawn", False),
        ("box: program ended", inside, "box.wait_for", False),
        ("box: about to exit (others killed, usage reported)", inside, probe.EXIT, True),
        ("spawner: knows (exit, teardown of the namespaces)", spawner, "spawner.finish", True),
        ("spawner: answer ready (meters, cgroup removed)", spawner, "protocol.send", True),
        ("caller: answer read", caller, "_on_readable", True),
        ("caller: execute() returned", caller, "execute", False),
    ):
        found = [s.at_ns for s in stamps if s.name == name and s.begin is begin]
        if found:
            yield text, found[-1]


def tree(stamps: Sequence[Stamp]) -> dict[Steps, tuple[int, int]]:
    """How long each step took, with all that it called: path of names -> (ns, calls). A step that
    never returned, since the process ended in it, lasted until the last stamp."""
    totals: dict[Steps, tuple[int, int]] = {}
    open_steps: list[Stamp] = []
    for stamp in stamps:
        if stamp.begin:
            open_steps.append(stamp)
            totals.setdefault(tuple(step.name for step in open_steps), (0, 0))
        elif open_steps and open_steps[-1].name == stamp.name:
            path = tuple(step.name for step in open_steps)
            took, calls = totals[path]
            totals[path] = took + stamp.at_ns - open_steps.pop().at_ns, calls + 1
    while open_steps:
        path = tuple(step.name for step in open_steps)
        totals[path] = stamps[-1].at_ns - open_steps.pop().at_ns, 1
    return totals


def road_table(runs: Sequence[Run]) -> Table:
    gaps: dict[str, list[float]] = {}
    for run in runs:
        stations = list(road(run))
        for (_, before), (text, after) in itertools.pairwise(stations):
            gaps.setdefault(text, []).append((after - before) / 1000)
        gaps.setdefault("in all", []).append((stations[-1][1] - stations[0][1]) / 1000)
    made = _table("One run of a C program, from the caller and back", "p50 µs", "least")
    for text, times in gaps.items():
        made.add_row(text, *_microseconds(times))
    return made


def tree_table(title: str, runs: Sequence[Sequence[Stamp]], *, everything: bool) -> Table:
    trees = [tree(stamps) for stamps in runs]
    paths = list(dict.fromkeys(path for one in trees for path in one))
    made = _table(title, "calls", "p50 µs", "least")
    for path in _in_tree_order(paths):
        times = [one[path][0] / 1000 for one in trees if path in one]
        if everything or statistics.median(times) >= _TRIVIAL_US:
            calls = max(one[path][1] for one in trees if path in one)
            name = "  " * (len(path) - 1) + path[-1]
            made.add_row(name, str(calls), *_microseconds(times))
    return made


def _in_tree_order(paths: Sequence[Steps]) -> list[Steps]:
    """Every step below the one that called it, otherwise in the order of their first call."""
    place = {path: number for number, path in enumerate(paths)}
    return sorted(paths, key=lambda path: [place.get(path[: n + 1], 0) for n in range(len(path))])


def _table(title: str, *headings: str) -> Table:
    made = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left")
    made.add_column("step", no_wrap=True)
    for heading in headings:
        made.add_column(heading, justify="right", no_wrap=True)
    return made


def _microseconds(times: Sequence[float]) -> tuple[str, str]:
    return f"{statistics.median(times):.0f}", f"{min(times):.0f}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench/steps.py", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--pause", type=float, default=30, metavar="MS", help=_PAUSE_HELP)
    parser.add_argument("--deep", action="store_true", help="clocks around small calls, too")
    parser.add_argument("--all", action="store_true", help="also steps that cost next to nothing")
    options = parser.parse_args(arguments)
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="coderunner-steps-") as folder:
        try:
            recording = record(
                options.runs,
                _WARMUPS,
                pause_s=options.pause / 1000,
                deep=options.deep,
                folder=Path(folder),
            )
            runs = asyncio.run(recording)
        except Missing as error:
            print(f"error: {error}\nhint: {error.fix}", file=sys.stderr)
            return 1
    console.print(road_table(runs))
    console.print(tree_table("Spawner", [r.spawner for r in runs], everything=options.all))
    console.print(tree_table("Box", [r.box for r in runs], everything=options.all))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

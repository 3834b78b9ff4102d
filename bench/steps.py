"""Where the time of a run goes: `.venv/bin/python bench/steps.py [--tree] [--deep]`.

Runs one C program again and again in a spawner whose functions have clocks (`probe.py`), and prints
two roads, gap by gap: that of a run in a box that stood ready, from the caller and back; and that
of making such a box, which happens in the background. With `--tree` also what every function on
them took. The clocks cost about a microsecond per call.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)  # so that `bench` is a package

from rich import box
from rich.console import Console
from rich.table import Table

from bench import bare, probe
from bench.lab import Lab, check_outcome
from bench.sandboxes import Missing
from bench.stamps import CallerClock, Memory, Stamp, Steps, between, time_of, tree
from coderunner.engines.linux import client
from coderunner.engines.linux.engine import LinuxEngine
from coderunner.execution import execute
from coderunner.model import Job

_ENTRY = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.argv += [{path!r}, {depth!r}]; "
    "exec(compile(open({probe!r}).read(), {probe!r}, 'exec'))"
)
_TRIVIAL_US = 8.0
_WARMUPS = 20
# Moving a process between cgroups is cheap if somebody just did it, and else waits for an RCU grace
# period. Runs back to back would hide that; and the next box is made in the pause.
_PAUSE_HELP = "between two runs (default 30): time in which the next box is made ready"

CALLER, SPAWNER, BOX = "caller", "spawner", "box"
# The stations of a road: who is there, when it is reached (a function entered, or left), and what
# has happened on the way to it. What a machine does not have (a cgroup, Landlock) is left out.
Station = tuple[str, str, bool, str]
RUN_ROAD: tuple[Station, ...] = (
    (CALLER, "execute", True, "execute() called"),
    (CALLER, "_flush", True, "request ready: pipes, JSON"),
    (SPAWNER, "spawner.read_channel", True, "awake"),
    (SPAWNER, "run.begin", True, "request read, ready box taken"),
    (SPAWNER, "box.fill", False, "files copied into the box"),
    (BOX, "inside.start", True, "job handed over, process 1 awake"),
    (BOX, "posix_spawn", True, "descriptors in place, rlimits"),
    (BOX, "posix_spawn", False, "program started (posix_spawn)"),
    (BOX, "inside.wait_for", False, "program ended"),
    (BOX, "inside.end_everybody_else", False, "whatever it left running killed"),
    (SPAWNER, "spawner.conclude", True, "knows: program ended, nothing else is left in the box"),
    (SPAWNER, "spawner.send", True, "meters read"),
    (CALLER, "_on_readable", True, "answer received"),
    (CALLER, "execute", False, "execute() returned"),
)
MAKING_ROAD: tuple[Station, ...] = (
    (SPAWNER, "maker.make", True, "a box is wanted"),
    (SPAWNER, "making.new_scratch", False, "tmpfs made"),
    (SPAWNER, "cgroup.entrances", False, "cgroup made, limits written"),
    (BOX, probe.BORN, True, "cloned: process 1 of a pid namespace"),
    (BOX, "inside.close_others", False, "spawner's descriptors closed"),
    (BOX, "inside.enter_root", False, "root: mounts, /proc, workspace"),
    (BOX, "inside.raise_network", False, "network, ipc, uts namespaces; loopback up"),
    (BOX, "inside.join_cgroup", False, "cgroup joined"),
    (BOX, "identity.become_nobody", False, "identity: nobody, no capabilities"),
    (BOX, "landlock.restrict", False, "landlock"),
    (BOX, "kernel.install_seccomp", False, "seccomp"),
    (BOX, "identity.check_self", False, "self check"),
    (BOX, "inside.limit", False, "rlimits; ready"),
    (SPAWNER, "box.become_ready", True, "knows that it is ready"),
)


@dataclass(frozen=True)
class Trip:
    """The stamps of one trip down a road, by who made them, in the order of time."""

    caller: Sequence[Stamp]
    spawner: Sequence[Stamp]
    box: Sequence[Stamp]

    def stations(self, road: Iterable[Station]) -> Iterator[tuple[str, int]]:
        """The stations that were passed, in order, with their time."""
        stamps = {CALLER: self.caller, SPAWNER: self.spawner, BOX: self.box}
        for who, name, begin, text in road:
            at_ns = time_of(stamps[who], name, begin)
            if at_ns is not None:
                yield f"{who}: {text}", at_ns


@dataclass(frozen=True)
class Recording:
    runs: list[Trip]
    makings: list[Trip]
    not_ready: int  # runs that found no box waiting; they are not among `runs`


async def record(runs: int, warmups: int, *, pause_s: float, deep: bool, folder: Path) -> Recording:
    memory, clock = Memory(folder / "stamps"), CallerClock()
    entry = {"path": str(folder / "stamps"), "depth": "deep" if deep else "plain"}
    vars(client)["_START"] = _ENTRY.format(probe=probe.__file__, **entry)
    clock.wrap(client.Spawner, "_flush")
    clock.wrap(client.Spawner, "_on_readable")
    async with Lab() as lab:
        job = await _job(lab)
        engine = LinuxEngine()
        try:
            for _ in range(warmups):
                await _one(engine, job, clock, pause_s)
            memory.take_spawner()
            trips = []
            for _ in range(runs):
                caller = await _one(engine, job, clock, pause_s)
                trips.append(Trip(caller, memory.take_spawner(), _that_ran(memory, caller)))
        finally:
            await engine.aclose()
    return _sorted_out(trips)


async def _job(lab: Lab) -> Job:
    compiler = (await lab.toolchain("c")).tools["cc"]
    workspace = lab.folder({"main.c": "int main(void) { return 0; }\n"})
    source = workspace / "main.c"
    bare.run([compiler, "-O2", "-o", str(workspace / "program"), str(source)])
    source.unlink()
    return Job(argv=("./program",), workspace=workspace, env=bare.ENVIRONMENT)


async def _one(
    engine: LinuxEngine, job: Job, clock: CallerClock, pause_s: float
) -> Sequence[Stamp]:
    await engine.capabilities()  # so that the spawner is there
    clock.stamps = []
    clock.mark("execute", True)
    outcome = await execute(engine, job)
    clock.mark("execute", False)
    check_outcome(outcome, b"")
    await asyncio.sleep(pause_s)
    return clock.stamps


def _that_ran(memory: Memory, caller: Sequence[Stamp]) -> list[Stamp]:
    """The stamps of the box that started a program while the caller waited for one."""
    for stamps in memory.boxes():
        started = time_of(stamps, "posix_spawn", True)
        if started is not None and caller[0].at_ns <= started <= caller[-1].at_ns:
            return stamps
    return []


def _sorted_out(trips: Sequence[Trip]) -> Recording:
    """Runs and makings apart. A box is made long before its run, while another one has its turn."""
    spawner = [stamp for trip in trips for stamp in trip.spawner]
    ready = [trip for trip in trips if trip.box and trip.box[0].at_ns < trip.caller[0].at_ns]
    runs = [_run(trip) for trip in ready]
    makings = [making for trip in ready if (making := _making(trip.box, spawner))]
    return Recording(runs, makings, len(trips) - len(ready))


def _run(trip: Trip) -> Trip:
    first, last = trip.caller[0].at_ns, trip.caller[-1].at_ns
    return Trip(trip.caller, between(trip.spawner, first, last), between(trip.box, first, last))


def _making(made: Sequence[Stamp], spawner: Sequence[Stamp]) -> Trip | None:
    """How a box was made: from the order to make it to the spawner's hearing that it is ready."""
    born = made[0].at_ns
    begins = [s.at_ns for s in spawner if s.name == "maker.make" and s.begin and s.at_ns < born]
    heard = [
        s.at_ns for s in spawner if s.name == "box.become_ready" and s.begin and s.at_ns > born
    ]
    if not begins or not heard:
        return None  # it was made before the recording began
    return Trip((), between(spawner, begins[-1], heard[0]), between(made, born, heard[0]))


def road_table(title: str, road: Sequence[Station], trips: Sequence[Trip]) -> Table:
    gaps: dict[str, list[float]] = {}
    for trip in trips:
        stations = list(trip.stations(road))
        for (_, before), (text, after) in itertools.pairwise(stations):
            gaps.setdefault(text, []).append((after - before) / 1000)
        gaps.setdefault("in all", []).append((stations[-1][1] - stations[0][1]) / 1000)
    gaps["in all"] = gaps.pop("in all", [])  # to the end, also if a station was new
    made = _table(title, "p50 µs", "least")
    for text, times in gaps.items():
        if times:
            made.add_row(text, *_microseconds(times))
    return made


def tree_table(title: str, trips: Sequence[Sequence[Stamp]], *, everything: bool) -> Table:
    trees = [tree(stamps) for stamps in trips]
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


def show(recording: Recording, *, trees: bool, everything: bool) -> None:
    console = Console(highlight=False)
    runs, makings = recording.runs, recording.makings
    console.print(road_table("A C program in a ready box", RUN_ROAD, runs))
    console.print(road_table("Making a box, in the background", MAKING_ROAD, makings))
    console.print(f"{len(runs)} runs in ready boxes, {recording.not_ready} others left out")
    for title, trips in (
        ("Spawner, a run", [trip.spawner for trip in runs]),
        ("Box, a run", [trip.box for trip in runs]),
        ("Spawner, making a box", [trip.spawner for trip in makings]),
        ("Box, while it is made", [trip.box for trip in makings]),
    ):
        if trees:
            console.print(tree_table(title, trips, everything=everything))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench/steps.py", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--pause", type=float, default=30, metavar="MS", help=_PAUSE_HELP)
    parser.add_argument("--tree", action="store_true", help="also every function on the way")
    parser.add_argument("--deep", action="store_true", help="--tree with small calls (open, write)")
    parser.add_argument("--all", action="store_true", help="--tree with what costs next to nothing")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="coderunner-steps-") as folder:
        recording = record(
            options.runs,
            _WARMUPS,
            pause_s=options.pause / 1000,
            deep=options.deep,
            folder=Path(folder),
        )
        try:
            recorded = asyncio.run(recording)
        except Missing as error:
            print(f"error: {error}\nhint: {error.fix}", file=sys.stderr)
            return 1
    show(recorded, trees=options.tree or options.deep or options.all, everything=options.all)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

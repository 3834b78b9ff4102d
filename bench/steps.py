"""Where the time of a run goes: `.venv/bin/python bench/steps.py`, for Python with `--warm`.

Runs one program again and again in a spawner whose functions have clocks (`probe.py`), and prints
three roads, gap by gap: that of a run in a box that stood ready, from the caller and back; that of
the box's end; and that of making such a box. The last two happen in the background. With `--tree`
also what every function of the spawner took. The clocks cost about a microsecond per call.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import statistics
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)  # so that `bench` is a package

from rich import box
from rich.console import Console
from rich.table import Table

from bench import bare, probe
from bench.lab import check_outcome
from bench.probe import BOX, CALLER, PROGRAM, SPAWNER, Clock, Stamp
from bench.stamps import Station, Steps, between, stations, tree
from coderunner.build import Build
from coderunner.engines.linux import client
from coderunner.engines.linux.engine import LinuxEngine
from coderunner.errors import CodeRunnerError
from coderunner.model import File, Program
from coderunner.runner import Runner
from coderunner.settings import Settings, user_cache_dir

_ENTRY = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.argv[2:2] = [{path!r}, {depth!r}]; "
    "exec(compile(open({probe!r}).read(), {probe!r}, 'exec'))"
)
_TRIVIAL_US = 8.0
_WARMUPS = 20
_NEVER = 1 << 63
# Moving a process between cgroups is cheap if somebody just did it, and else waits for an RCU grace
# period. Runs back to back would hide that; and the next box is made in the pause.
_PAUSE_HELP = "between two runs (default 30): time in which the next box is made ready"

RUN_ROAD: tuple[Station, ...] = (
    (CALLER, "run", True, "run() called"),
    (CALLER, "_flush", True, "request ready: pipes, JSON"),
    (SPAWNER, "spawner.read_channel", True, "awake"),
    (SPAWNER, "run.begin", True, "request read, ready box taken"),
    (SPAWNER, "box.fill", False, "files copied into the box"),
    (SPAWNER, "protocol.encode_job", False, "job written down"),
    (PROGRAM, "main", True, "job handed over, program started: it runs"),
    (BOX, probe.ENDED, False, "program ended"),
    (SPAWNER, "spawner.conclude", True, "knows: what the program left is killed, too"),
    (SPAWNER, "spawner.send", True, "meters read"),
    (CALLER, "_on_readable", True, "answer received"),
    (CALLER, "run", False, "run() returned"),
)
END_ROAD: tuple[Station, ...] = (
    (SPAWNER, "spawner.send", False, "answer sent"),
    (SPAWNER, "spawner.on_death", True, "knows: process 1 gone, namespaces with it"),
    (SPAWNER, "spawner.forget", False, "cgroup and tmpfs removed"),
)
MAKING_ROAD: tuple[Station, ...] = (
    (SPAWNER, "maker.make", True, "a box is wanted"),
    (SPAWNER, "making.new_scratch", False, "tmpfs made"),
    (SPAWNER, "cgroup.entrances", False, "cgroup made, limits written"),
    (SPAWNER, "process1.start", False, "process 1 started in a pid namespace"),
    (BOX, probe.PLAN, True, "process 1 has its plan"),
    (BOX, "close others", False, "spawner's descriptors closed"),
    (BOX, "enter root", False, "root: mounts, /proc, workspace"),
    (BOX, "network", False, "network, ipc, uts namespaces; loopback up"),
    (BOX, "join cgroup", False, "cgroup joined"),
    (BOX, "become nobody", False, "identity: nobody, no capabilities"),
    (BOX, "landlock", False, "landlock"),
    (BOX, "seccomp", False, "seccomp"),
    (BOX, "self check", False, "self check"),
    (BOX, "limit", False, "rlimits; ready"),
    (SPAWNER, "box.become_ready", True, "knows that it is ready"),
)


@dataclass(frozen=True)
class Subject:
    """A program that says when it runs."""

    language: str
    text: str
    title: str


C = Subject(
    "c",
    """#include <stdio.h>
#include <time.h>
int main(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    dprintf(1, "%lld%09ld", (long long)now.tv_sec, now.tv_nsec);
}
""",
    "A C program in a ready box",
)
PYTHON = Subject(
    "python", "import time\nprint(time.monotonic_ns())\n", "A Python program in a ready, warm box"
)


@dataclass(frozen=True)
class Recording:
    runs: list[list[Stamp]]  # each up to the beginning of the next one
    makings: list[list[Stamp]]
    not_ready: int  # runs that found no box waiting; they are not among `runs`


async def record(
    subject: Subject,
    runs: int,
    *,
    folder: Path,
    warmups: int = _WARMUPS,
    pause_s: float = 0.03,
    compiled: bool = True,
    deep: bool = False,
) -> Recording:
    clock, path = Clock(CALLER), folder / "stamps"
    entry = _ENTRY.format(probe=probe.__file__, path=str(path), depth=probe.DEEP if deep else "")
    settings = Settings(cache_dir=user_cache_dir() / "bench", prepare=False)
    line, flush, hear = client.Spawner, client.Spawner._flush, client.Spawner._on_readable
    with (
        patch.object(client, "_START", entry),
        patch.object(line, "_flush", clock.around(flush, "_flush")),
        patch.object(line, "_on_readable", clock.around(hear, "_on_readable")),
    ):
        async with Runner(LinuxEngine(compiled=compiled), settings=settings) as runner:
            warm = await runner.warm_up(subject.language)
            source = runner.languages.get(subject.language).source
            program = Program(subject.language, (File(source, subject.text.encode()),))
            async with runner.build(program) as build:
                for _ in range(warmups):
                    await _one(build, clock, pause_s, warm)
                clock.stamps.clear()
                for _ in range(runs):
                    await _one(build, clock, pause_s, warm)
                clock.mark("run", True)  # where the next one would begin
    stamps = [*clock.stamps, *(Stamp(*stamp) for stamp in json.loads(path.read_text()))]
    return _sorted_out(sorted(stamps, key=lambda stamp: stamp.at_ns))


async def _one(build: Build, clock: Clock, pause_s: float, warm: bool) -> None:
    clock.mark("run", True)
    outcome = (await build.run()).outcome
    clock.mark("run", False)
    printed = outcome.stdout.data
    if check_outcome(outcome, printed) != warm:
        raise bare.RunFailed("a run was cold")
    clock.stamps.append(Stamp(PROGRAM, "main", True, int(printed)))
    await asyncio.sleep(pause_s)


def _sorted_out(stamps: Sequence[Stamp]) -> Recording:
    """Runs and makings apart. A box is made long before its run, while another one has its turn."""
    begins = _begins(stamps, CALLER, "run")
    trips = [between(stamps, first, after) for first, after in itertools.pairwise(begins)]
    runs = [trip for trip in trips if _was_ready(trip)]
    made = _makings(between(stamps, begins[0], begins[-1]))
    return Recording(runs, made, len(trips) - len(runs))


def _begins(stamps: Iterable[Stamp], who: str, name: str) -> list[int]:
    return [stamp.at_ns for stamp in stamps if stamp[:3] == (who, name, True)]


def _was_ready(run: Sequence[Stamp]) -> bool:
    """Whether no box had to be made between the request and its beginning."""
    asked, begun = (
        _begins(run, SPAWNER, name)[0] for name in ("spawner.read_channel", "run.begin")
    )
    return not _begins(between(run, asked, begun), SPAWNER, "maker.make")


def _makings(stamps: Sequence[Stamp]) -> list[list[Stamp]]:
    """Each from the order to make a box until the spawner hears that it is ready. Where two were
    made at once they are left out, since nobody could tell their stamps apart."""
    found, pending, since = [], 0, 0
    for stamp in stamps:
        if stamp[:3] == MAKING_ROAD[0][:3]:
            pending += 1
            since = stamp.at_ns if pending == 1 else _NEVER
        elif stamp[:3] == MAKING_ROAD[-1][:3] and pending:
            pending -= 1
            if since < stamp.at_ns:
                found.append(between(stamps, since, stamp.at_ns + 1))
    return found


def road_table(title: str, road: Sequence[Station], trips: Iterable[Sequence[Stamp]]) -> Table:
    gaps: dict[str, list[float]] = {}
    for trip in trips:
        passed = stations(trip, road)
        if road[-1] not in passed:
            continue  # it went on when the next run began
        for (_, before), (station, after) in itertools.pairwise(passed.items()):
            who, _, _, text = station
            gaps.setdefault(f"{who}: {text}", []).append((after - before) / 1000)
        gaps.setdefault("in all", []).append((passed[road[-1]] - passed[road[0]]) / 1000)
    gaps["in all"] = gaps.pop("in all", [])  # to the end, also if a station was new
    made = _table(title, "p50 µs", "least")
    for text, times in gaps.items():
        if times:
            made.add_row(text, *_microseconds(times))
    return made


def tree_table(title: str, trips: Sequence[Sequence[Stamp]], *, everything: bool) -> Table:
    trees = [tree([stamp for stamp in trip if stamp.who == SPAWNER]) for trip in trips]
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


def show(subject: Subject, recording: Recording, *, trees: bool, everything: bool) -> None:
    console = Console(highlight=False)
    runs, makings = recording.runs, recording.makings
    console.print(road_table(subject.title, RUN_ROAD, runs))
    console.print(road_table("The end of the box, in the background", END_ROAD, runs))
    console.print(road_table("Making a box, in the background", MAKING_ROAD, makings))
    others = f"{recording.not_ready} others left out; {len(makings)} boxes made one by one"
    console.print(f"{len(runs)} runs in ready boxes, {others}")
    if trees:
        console.print(tree_table("Spawner, from a run to the next", runs, everything=everything))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench/steps.py", description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--pause", type=float, default=30, metavar="MS", help=_PAUSE_HELP)
    parser.add_argument("--warm", action="store_true", help="Python, not C")
    parser.add_argument("--interpreted", action="store_true", help="process 1 in Python")
    parser.add_argument("--tree", action="store_true", help="also every function on the way")
    parser.add_argument("--deep", action="store_true", help="--tree with all that is small")
    options = parser.parse_args(arguments)
    subject = PYTHON if options.warm else C
    with tempfile.TemporaryDirectory(prefix="coderunner-steps-") as folder:
        recording = record(
            subject,
            options.runs,
            folder=Path(folder),
            pause_s=options.pause / 1000,
            compiled=not options.interpreted,
            deep=options.deep,
        )
        try:
            recorded = asyncio.run(recording)
        except CodeRunnerError as error:
            print(f"error: {error.message}\nhint: {error.hint}", file=sys.stderr)
            return 1
    show(subject, recorded, trees=options.tree or options.deep, everything=options.deep)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

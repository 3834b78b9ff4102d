"""The bench measures all contenders alike, drops nobody silently, and counts right."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from bench import main as bench_main
from bench import report
from bench.bare import RunFailed, run
from bench.bubblewrap import command
from bench.lab import BARE, BUBBLEWRAP, LINUX, Contenders, Lab, Missing
from bench.measure import Figures, Once, Track, figures, interleave, percentile
from bench.report import Line, Section
from bench.rows import ROWS, Row
from bench.stamps import Stamp, tree
from bench.steps import MAKING_ROAD, RUN_ROAD, Station, Trip, record
from coderunner.engines.linux import client
from coderunner.model import Job, Mount
from tests.support import require_sandbox, require_toolchain

pytestmark = pytest.mark.unit

CLOCKED = ("_flush", "_on_readable")  # by the recording, on the caller's side
# What not every machine has.
OPTIONAL = {"cgroup.entrances", "landlock.restrict"}


def nothing() -> None:
    pass


def logging_into(log: list[str], name: str) -> Once:
    async def once() -> None:
        log.append(name)

    return once


async def failing() -> None:
    raise RunFailed("no such luck")


# --- measuring ---


@pytest.mark.parametrize(("percent", "expected"), [(50, 2.0), (75, 3.0), (99, 4.0), (0, 1.0)])
def test_a_percentile_is_a_time_that_was_measured(percent: float, expected: float) -> None:
    assert percentile([1.0, 2.0, 3.0, 4.0], percent) == expected


def test_figures_of_times_in_any_order() -> None:
    assert figures([3.0, 1.0, 2.0]) == Figures(count=3, least=1.0, p50=2.0, p95=3.0, p99=3.0)


async def test_every_round_runs_everybody_once_and_not_always_in_the_same_order() -> None:
    log: list[str] = []
    contenders = {name: logging_into(log, name) for name in ("a", "b", "c")}
    await interleave(contenders, rounds=20, warmups=0, tick=nothing)
    rounds = [tuple(log[at : at + 3]) for at in range(0, len(log), 3)]
    assert all(sorted(order) == ["a", "b", "c"] for order in rounds)
    assert len(set(rounds)) > 1


async def test_warm_up_rounds_are_run_but_not_measured() -> None:
    log: list[str] = []
    tracks = await interleave({"a": logging_into(log, "a")}, rounds=3, warmups=2, tick=nothing)
    assert Counter(log) == {"a": 5}
    assert len(tracks["a"].times_ms) == 3


async def test_who_fails_is_out_and_the_others_go_on() -> None:
    log: list[str] = []
    contenders = {"bad": failing, "good": logging_into(log, "good")}
    tracks = await interleave(contenders, rounds=4, warmups=1, tick=nothing)
    assert tracks["bad"].failure == "RunFailed: no such luck"
    assert len(tracks["good"].times_ms) == 4


# --- starting things without an engine ---


def test_a_bare_run_returns_what_was_printed() -> None:
    assert run(["/bin/sh", "-c", "echo out; echo err >&2"]) == b"out\n"


def test_a_bare_run_takes_more_than_a_pipe_holds_on_both_streams() -> None:
    script = "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"
    assert len(run(["/bin/sh", "-c", script])) == 300_000


def test_a_bare_run_that_fails_is_no_measurement() -> None:
    with pytest.raises(RunFailed, match="ended with 3: oh no"):
        run(["/bin/sh", "-c", "echo oh no >&2; exit 3"])


def test_bubblewrap_gets_the_same_job() -> None:
    mounts = (Mount(Path("/opt/tool"), "/opt/tool"),)
    words = command("/usr/bin/bwrap", Job(("./program", "x"), Path("/w"), mounts=mounts))
    text = " ".join(words)
    assert text.startswith("/usr/bin/bwrap --unshare-all")
    assert "--ro-bind /opt/tool /opt/tool" in text
    assert text.endswith("--ro-bind /w /workspace --chdir /workspace ./program x")


# --- the report ---


def section(**p50: float) -> Section:
    lines = [Line(name, Figures(1, ms, ms, ms, ms)) for name, ms in p50.items()]
    return Section("c", "C program", lines)


def test_overhead_is_what_comes_on_top_of_a_bare_run() -> None:
    measured = section(bare=1.0, bubblewrap=5.0, linux=3.0)
    assert measured.overhead(LINUX) == 2.0
    assert measured.times_bare(LINUX) == 3.0
    assert measured.times_bubblewrap(LINUX) == 0.5
    assert measured.overhead(BARE) is None
    assert "our sandbox costs 2.00 ms" in report.remarks([measured])[0]


def test_without_bubblewrap_there_is_no_ratio_to_it() -> None:
    assert section(bare=1.0, linux=3.0).times_bubblewrap(LINUX) is None


def test_what_is_missing_is_named_with_its_remedy_and_is_no_failure() -> None:
    missing = Line(BUBBLEWRAP, missing="there is no bwrap", fix="apt-get install bubblewrap")
    sections = [Section("c", "C program", [missing])]
    assert report.remarks(sections) == [
        "missing  C program: bubblewrap: there is no bwrap",
        "         hint: apt-get install bubblewrap",
    ]
    assert not report.failed(sections)


def test_a_contender_that_failed_once_has_no_figures() -> None:
    line = report.line(LINUX, Track([1.0], failure="RunFailed: x"))
    assert line.figures is None
    assert report.failed([Section("c", "C program", [line])])


# --- the command ---


def row(**entered: Once | Missing) -> Row:
    async def prepare(lab: Lab) -> Contenders:
        return entered

    return Row("fake", "A fake row", 3, 2, prepare)


def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fake: Row) -> tuple[int, list[str]]:
    monkeypatch.setattr(bench_main, "ROWS", (fake,))
    file = tmp_path / "bench.json"
    code = bench_main.main(["--quick", "--json", str(file)])
    rows = json.loads(file.read_text())["rows"]
    return code, [f"{row['contender']}: {row['missing'] or row['failure'] or 'ok'}" for row in rows]


def test_a_missing_contender_is_shown_and_the_exit_code_is_zero(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = row(bare=logging_into([], ""), bubblewrap=Missing("no bwrap", "apt-get install it"))
    assert bench(monkeypatch, tmp_path, fake) == (0, ["bare: ok", "bubblewrap: no bwrap"])
    assert "apt-get install it" in capsys.readouterr().out


def test_a_row_that_nobody_can_run_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def prepare(lab: Lab) -> Contenders:
        raise Missing("no compiler", "apt-get install gcc")

    fake = Row("fake", "A fake row", 3, 2, prepare)
    assert bench(monkeypatch, tmp_path, fake) == (0, ["all: no compiler"])


def test_a_failure_is_the_exit_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code, lines = bench(monkeypatch, tmp_path, row(bare=failing))
    assert (code, lines) == (1, ["bare: RunFailed: no such luck"])


def test_row_names_are_unique() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)


# --- the steps ---


def test_steps_are_summed_by_where_they_were_called_from() -> None:
    stamps = [
        Stamp("run", True, 0),
        Stamp("mount", True, 10),
        Stamp("mount", False, 15),
        Stamp("mount", True, 20),
        Stamp("mount", False, 27),
        Stamp("(exit)", True, 40),
    ]
    steps = tree(stamps)
    assert steps["run", "mount"] == (12, 2)
    assert steps["run",] == (40, 1)  # it never returned: it lasted until the last stamp


@pytest.mark.engines
async def test_a_ready_run_and_the_making_of_a_box_pass_every_station(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_sandbox()
    require_toolchain("c")
    for owner, name in ((client, "_START"), *((client.Spawner, n) for n in CLOCKED)):
        monkeypatch.setattr(owner, name, getattr(owner, name))  # so that it is undone
    recording = await record(4, 4, pause_s=0.2, deep=False, folder=tmp_path)
    assert len(recording.runs) + recording.not_ready == 4
    for road, trips in ((RUN_ROAD, recording.runs), (MAKING_ROAD, recording.makings)):
        assert trips
        for trip in trips:
            assert missed(road, trip) <= OPTIONAL
            times = [at_ns for _, at_ns in trip.stations(road)]
            assert times == sorted(times)


def missed(road: tuple[Station, ...], trip: Trip) -> set[str]:
    return {station[1] for station in road if not list(trip.stations([station]))}

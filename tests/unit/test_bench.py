"""The bench measures all contenders alike, drops nobody silently, and counts right."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bench import judge
from bench import main as bench_main
from bench.bare import RunFailed, run
from bench.hand import Hand
from bench.lab import Contenders, Lab
from bench.measure import Figures, Once, figures, interleave, percentile, sustain
from bench.probe import SPAWNER, Stamp
from bench.results import BARE, COLD, WARM
from bench.rows import ROWS, Row
from bench.sandboxes import Commands, Missing
from bench.stamps import Station, stations, tree
from bench.steps import END_ROAD, MAKING_ROAD, PYTHON, RUN_ROAD, C, Subject, record
from tests.support import require_sandbox, require_toolchain

pytestmark = pytest.mark.unit

OPTIONAL = {"cgroup.entrances", "landlock"}  # what not every machine has
STARTED = "process1.start"  # what not every box is made with
ENV = {"PATH": "/usr/bin:/bin"}


def nothing() -> None:
    pass


def logging_into(log: list[str], name: str, *, seconds: float = 0.0) -> Once:
    async def once() -> bool:
        log.append(name)
        await asyncio.sleep(seconds)
        return False

    return once


async def failing() -> bool:
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


async def test_it_is_counted_how_many_runs_were_warm() -> None:
    answers = iter([True, True, False, True])

    async def once() -> bool:
        return next(answers)

    tracks = await interleave({"a": once}, rounds=3, warmups=1, tick=nothing)
    assert tracks["a"].warm == 2


# --- sustained runs ---


async def test_so_many_are_kept_going_at_once_and_never_more() -> None:
    now = most = 0

    async def once() -> bool:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        return False

    await sustain({"a": once}, parallel=3, slices=1, seconds=0.02, tick=nothing)
    assert (now, most) == (0, 3)


async def test_contenders_take_turns_in_slices_and_the_first_round_of_them_is_not_counted() -> None:
    log: list[str] = []
    contenders = {name: logging_into(log, name, seconds=0.002) for name in ("a", "b")}
    tracks = await sustain(contenders, parallel=2, slices=3, seconds=0.01, tick=nothing)
    turns = [name for name, before in zip(log, ["", *log], strict=False) if name != before]
    assert len(turns) >= 4
    for name, track in tracks.items():
        assert 0 < len(track.times_ms) < log.count(name)
        assert track.per_second == len(track.times_ms) / track.seconds


async def test_the_time_of_a_slice_ends_with_its_last_run() -> None:
    slow = logging_into([], "a", seconds=0.05)
    tracks = await sustain({"a": slow}, parallel=1, slices=1, seconds=0.001, tick=nothing)
    assert len(tracks["a"].times_ms) == 1
    assert tracks["a"].seconds >= 0.05


async def test_who_fails_in_the_slice_that_does_not_count_is_out_as_well() -> None:
    calls = 0

    async def fails_once() -> bool:
        nonlocal calls
        calls += 1
        return await failing() if calls == 1 else False

    tracks = await sustain({"a": fails_once}, parallel=1, slices=2, seconds=0.001, tick=nothing)
    assert tracks["a"].failure == "RunFailed: no such luck"
    assert calls == 1


async def test_who_fails_in_a_slice_is_out() -> None:
    log: list[str] = []
    contenders = {"bad": failing, "good": logging_into(log, "good", seconds=0.001)}
    tracks = await sustain(contenders, parallel=2, slices=2, seconds=0.005, tick=nothing)
    assert tracks["bad"].failure == "RunFailed: no such luck"
    assert tracks["good"].times_ms
    assert not tracks["good"].failure


# --- starting things without an engine ---


def test_a_bare_run_returns_what_was_printed() -> None:
    assert run(["/bin/sh", "-c", "echo out; echo err >&2"]) == b"out\n"


def test_a_bare_run_is_given_its_input_even_if_no_pipe_holds_it() -> None:
    given = b"x" * 300_000
    assert run(["/bin/cat"], stdin=given) == given
    assert run(["/bin/cat"]) == b""


def test_a_bare_run_takes_more_than_a_pipe_holds_on_both_streams() -> None:
    script = "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"
    assert len(run(["/bin/sh", "-c", script])) == 300_000


def test_a_bare_run_that_fails_is_no_measurement() -> None:
    with pytest.raises(RunFailed, match="ended with 3: oh no"):
        run(["/bin/sh", "-c", "echo oh no >&2; exit 3"])


def hand(*scripts: str, refresh: Callable[[], None] = nothing, after: str = "") -> Hand:
    last = ("/bin/sh", "-c", after) if after else ()
    steps = [Commands(("/bin/sh", "-c", script), ENV, after=last) for script in scripts]
    return Hand(steps, refresh)


async def test_by_hand_a_program_is_written_built_and_run(tmp_path: Path) -> None:
    source, made = tmp_path / "source", tmp_path / "made"
    by_hand = hand(
        f"tr a-z A-Z <{source} >{made}",
        f"cat {made}",
        refresh=lambda: (source.write_text("hello"), None)[1],
    )
    assert await by_hand.once(b"HELLO")() is False
    with pytest.raises(RunFailed, match="expected b'bye'"):
        await by_hand.once(b"bye")()


def test_what_comes_after_a_run_is_done_even_if_it_fails(tmp_path: Path) -> None:
    mark = tmp_path / "cleaned"
    with pytest.raises(RunFailed, match="ended with 4"):
        hand("exit 4", after=f"touch {mark}").run()
    assert mark.exists()


def test_the_commands_of_one_run_get_a_number_that_the_next_run_does_not_get() -> None:
    show = ("/bin/echo", "{box}")
    again = Hand([Commands(show, ENV)], nothing)
    first, second = again.run(), again.run()
    assert first.strip().isdigit()
    assert first != second


# --- a judge's run ---


async def test_a_judge_gives_every_test_its_own_input_and_checks_every_answer() -> None:
    adding = r"s=0; for n in $(cat); do s=$((s + n)); done; echo $s"
    assert await judge.by_hand(hand("true", adding), 2)() is False
    assert len({given for given, _ in judge.inputs()}) == judge.TESTS == 100
    with pytest.raises(RunFailed, match="expected b'6"):
        await judge.by_hand(hand("true", adding.replace("s + n", "n")), 1)()


# --- the command ---


def row(**entered: Once | Missing) -> Row:
    async def prepare(lab: Lab) -> Contenders:
        return entered

    return Row("fake", "A fake row", 3, 2, prepare)


def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fake: Row) -> tuple[int, list[str]]:
    monkeypatch.setattr(bench_main, "ROWS", (fake,))
    file = tmp_path / "bench.json"
    code = bench_main.main(["--quick", "--rows", "fake", "--json", str(file)])
    lines = json.loads(file.read_text())["rows"][0]["lines"]
    return code, [f"{it['contender']}: {it['missing'] or it['failure'] or 'ok'}" for it in lines]


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


def test_a_row_with_several_at_once_is_measured_by_the_second(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def prepare(lab: Lab) -> Contenders:
        return {BARE: logging_into([], "", seconds=0.001)}

    monkeypatch.setattr(bench_main, "_QUICK_SLICE_SECONDS", 0.02)
    assert bench(monkeypatch, tmp_path, Row("fake", "A row", 1, 1, prepare, parallel=2))[0] == 0
    data = json.loads((tmp_path / "bench.json").read_text())["rows"][0]
    assert data["parallel"] == 2
    assert data["lines"][0]["per_second"] > 0


def test_what_was_measured_can_be_shown_again_without_measuring(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench(monkeypatch, tmp_path, row(bare=logging_into([], "")))
    first = capsys.readouterr().out
    assert bench_main.main(["--from-json", str(tmp_path / "bench.json")]) == 0
    assert capsys.readouterr().out == first


def test_row_names_are_unique() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.engines
async def test_the_python_row_runs_everybody_and_knows_who_is_warm() -> None:
    require_sandbox()
    require_toolchain("python")
    python = next(row for row in ROWS if row.name == "python")
    async with Lab() as lab:
        entered = await python.prepare(lab)
        warm = {name: await run() for name, run in entered.items() if not isinstance(run, Missing)}
    assert warm.pop(WARM) is True
    assert {BARE, COLD} <= warm.keys()
    assert not any(warm.values())


# --- the steps ---


def test_steps_are_summed_by_where_they_were_called_from() -> None:
    seen = [
        ("run", True, 0),
        ("mount", True, 10),
        ("mount", False, 15),
        ("mount", True, 20),
        ("mount", False, 27),
        ("run", False, 40),
        ("run", True, 50),  # and the recording ends
    ]
    steps = tree([Stamp(SPAWNER, *stamp) for stamp in seen])
    assert steps == {("run",): (40, 1), ("run", "mount"): (12, 2)}


@pytest.mark.engines
@pytest.mark.parametrize(
    ("subject", "compiled"), [(C, True), (C, False), (PYTHON, True)], ids=["C", "no C", "warm"]
)
async def test_a_ready_run_and_the_making_of_a_box_pass_every_station(
    tmp_path: Path, subject: Subject, compiled: bool
) -> None:
    require_sandbox()
    require_toolchain(subject.language)
    recording = await record(subject, 4, folder=tmp_path, warmups=4, pause_s=0.2, compiled=compiled)
    assert len(recording.runs) + recording.not_ready == 4
    other_start = subject is PYTHON or not compiled
    for road, trips in (
        (RUN_ROAD, recording.runs),
        (END_ROAD, recording.runs),
        (MAKING_ROAD, recording.makings),
    ):
        # (On a machine with much to do a box may end after the next run began.)
        fewest = min((missed(road, trip) for trip in trips), key=len)
        assert fewest <= OPTIONAL | ({STARTED} if other_start else set())


def missed(road: Sequence[Station], trip: Sequence[Stamp]) -> set[str]:
    """The stations that were not passed, or not in their order."""
    return {station[1] for station in road if station not in stations(trip, road)}


def test_a_station_is_passed_after_the_one_before_it() -> None:
    road = [("box", "a", True, ""), ("box", "b", False, ""), ("box", "c", False, "")]
    seen = [("b", False, 1), ("a", True, 2), ("c", True, 3), ("b", False, 4)]
    trip = [Stamp("box", *stamp) for stamp in seen]
    assert list(stations(trip, road).values()) == [2, 4]

"""What the bench says is what was measured: ratios, targets, tables, plot, pages, JSON."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import docs, endurance, plot, processes, report, results, sandboxes
from bench.docker import Docker
from bench.endurance import State
from bench.measure import Figures, Track
from bench.results import BARE, BUBBLEWRAP, COLD, LINUX, WARM, Line, Memory, Results, Section
from bench.sandboxes import Inside, Missing
from bench.targets import TARGETS
from coderunner.model import Mount

pytestmark = pytest.mark.unit

SVG = "{http://www.w3.org/2000/svg}"
MACHINE = {"kernel": "6", "machine": "x", "cpus": 2, "python": "3", "root": True, "load": 0.1}
INSIDE = Inside(
    ("{folder}/program", "x"),
    Path("/w"),
    {"LANG": "C"},
    (Mount(Path("/opt/tool"), "/opt/tool"),),
)


def section(
    name: str, p50: Mapping[str, float], *, p99: float = 0, per_second: float | None = None
) -> Section:
    lines = [
        Line(who, Figures(9, ms, ms, ms, p99 or ms), per_second, warm=9 if who == WARM else 0)
        for who, ms in p50.items()
    ]
    return Section(name, f"Row {name}", lines, parallel=4 if per_second else 0)


def found(*sections: Section, memory: Memory | None = None) -> Results:
    return Results(list(sections), memory, MACHINE, "2026-01-02T03:04:05Z", "1.2")


# --- ratios ---


def test_overhead_is_what_comes_on_top_of_a_bare_run() -> None:
    measured = section("c", {BARE: 1.0, BUBBLEWRAP: 6.0, LINUX: 3.0})
    assert measured.overhead(LINUX) == 2.0
    assert measured.times_bare(LINUX) == 3.0
    assert measured.times_bubblewrap(LINUX) == 0.5
    assert measured.overhead(BARE) is None


def test_without_bubblewrap_there_is_no_ratio_to_it() -> None:
    assert section("c", {BARE: 1.0, LINUX: 3.0}).times_bubblewrap(LINUX) is None


def test_what_is_missing_is_named_once_with_its_remedy_and_is_no_failure() -> None:
    missing = Line(BUBBLEWRAP, missing="there is no bwrap", fix="apt-get install bubblewrap")
    measured = found(Section("c", "C", [missing]), Section("cpp", "C++", [missing]))
    assert report.remarks(measured)[:-1] == [
        "missing  bubblewrap: there is no bwrap",
        "         hint: apt-get install bubblewrap",
    ]
    assert not measured.failed


def test_a_contender_that_failed_once_has_no_figures() -> None:
    line = results.line(LINUX, Track([1.0], failure="RunFailed: x"))
    assert line.figures is None
    assert found(Section("c", "C", [line])).failed


@pytest.mark.parametrize(
    ("contender", "warm", "failure"),
    [
        (WARM, 100, ""),
        (WARM, 96, ""),  # an interpreter was replaced meanwhile
        (WARM, 90, "10 of 100 runs were cold"),
        (COLD, 0, ""),
        (COLD, 1, "1 of 100 runs were warm, and none should be"),
    ],
)
def test_runs_of_the_wrong_temperature_are_no_measurement(
    contender: str, warm: int, failure: str
) -> None:
    assert results.line(contender, Track([1.0] * 100, warm)).failure == failure


def test_cold_runs_among_the_warm_ones_are_said() -> None:
    line = results.line(WARM, Track([1.0] * 100, warm=97))
    said = report.remarks(found(Section("python", "Python", [line])))
    assert said[0] == "note     Python: 3 of 100 runs of linux warm were cold"


# --- targets ---


def verdicts(measured: Results) -> dict[str, str]:
    return {f"{it.title}: {it.wanted}": it.verdict(measured) for it in TARGETS}


def everything(factor: float) -> Results:
    """We are by this factor better or worse than what is wanted."""
    at_4 = Section(
        "at-4",
        "4 at once",
        [
            Line(BARE, Figures(9, 1, 1, 1, 100.0), 10.0),
            Line(WARM, Figures(9, 1, 1, 1, 100.0 * factor), 30.0 / factor),
        ],
        parallel=4,
    )
    return found(
        section("python", {BARE: 100.0, WARM: 15.0 * factor}),
        at_4,
        section("grading", {BARE: 100.0, WARM: 100.0 * factor}),
        section("numpy", {BARE: 100.0, WARM: 5.0 * factor}),
        section("c", {BARE: 1.0, BUBBLEWRAP: 100.0, LINUX: 50.0 * factor}),
        section("cpp", {BARE: 100.0}),
        section("judge-in-turn", {LINUX: 500.0 * factor}),
        section("bits", {BARE: 100.0, LINUX: 50.0 * factor}),
        section("again", {BARE: 100.0, LINUX: 10.0 * factor}),
        section("java", {BARE: 100.0, LINUX: 70.0 * factor}),
        section("go", {BARE: 100.0, LINUX: 110.0 * factor}),
        memory=Memory("idle", 2, 20.0 * factor, 10.0),
    )


def test_every_target_is_met_just_below_its_bound_and_not_above_it() -> None:
    assert set(verdicts(everything(0.99)).values()) == {"met"}
    assert set(verdicts(everything(1.01)).values()) == {"not met"}


def test_a_target_that_was_not_measured_is_not_met() -> None:
    failed = Section("python", "Python", [Line(BARE, failure="x"), Line(WARM, failure="x")])
    assert set(verdicts(found(failed)).values()) == {"no data"}


# --- JSON ---


def test_results_come_back_from_json_as_they_were() -> None:
    lines = [Line(LINUX, missing="m", fix="f"), Line(BARE, failure="oh")]
    measured = found(
        section("at-4", {BARE: 2.0, WARM: 1.0}, per_second=3.0),
        Section("x", "X", lines),
        memory=Memory("idle", 2, 12.5, 10.0),
    )
    text = json.dumps(results.as_json(measured))
    assert results.from_json(json.loads(text)) == measured


# --- the plot ---


def bars(measured: Results) -> list[tuple[str, float, float]]:
    root = ElementTree.fromstring(plot.svg(measured))
    found_bars = root.findall(f"{SVG}rect")
    return [(b.attrib["class"], float(b.attrib["x"]), float(b.attrib["width"])) for b in found_bars]


def test_bars_begin_at_a_bare_run_and_twice_as_fast_is_as_long_as_twice_as_slow() -> None:
    slow, fast = bars(found(section("c", {BARE: 10.0, BUBBLEWRAP: 20.0, LINUX: 5.0})))
    assert (slow[0], fast[0]) == ("theirs", "ours")
    assert slow[2] == pytest.approx(fast[2], abs=0.3)
    assert fast[1] + fast[2] == pytest.approx(slow[1], abs=0.3)


def test_what_was_not_measured_has_no_bar() -> None:
    measured = found(
        section("c", {BARE: 10.0, LINUX: 5.0}),
        Section("x", "X", [Line(BARE, failure="x"), Line(LINUX, missing="m")]),
    )
    assert len(bars(measured)) == 1
    assert bars(found()) == []


def test_more_runs_per_second_are_a_bar_to_the_left() -> None:
    lines = [Line(BARE, Figures(1, 1, 1, 1, 1), 10.0), Line(WARM, Figures(1, 1, 1, 1, 1), 40.0)]
    assert report.headline(Section("at-4", "A", lines, parallel=4), WARM) == 0.25


def test_titles_with_signs_of_xml_are_words() -> None:
    measured = found(Section("x", "C++ <bits> & more", section("x", {BARE: 1, LINUX: 2}).lines))
    assert "C++ <bits> & more" in "".join(ElementTree.fromstring(plot.svg(measured)).itertext())


# --- the page ---


def test_a_page_is_renewed_between_its_marks_and_nowhere_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{docs.BEGIN}\nold\n{docs.END}\nafter\n")
    measured = found(section("c", {BARE: 1.0, LINUX: 3.25}))
    assert docs.write(measured, page) == [page, tmp_path / "page.svg"]
    text = page.read_text()
    assert text.startswith(f"before\n{docs.BEGIN}\n")
    assert text.endswith(f"{docs.END}\nafter\n")
    assert "old" not in text
    assert "3.25 x" in text
    assert (tmp_path / "page.svg").read_text() == plot.svg(measured)


def test_a_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{docs.END} {docs.BEGIN}")
    with pytest.raises(docs.NoMarks):
        docs.write(found(), page)
    assert list(tmp_path.iterdir()) == [page]
    assert page.read_text() == f"{docs.END} {docs.BEGIN}"


def test_our_own_page_has_the_marks() -> None:
    assert "new" in docs.between_marks(docs.PAGE.read_text(encoding="utf-8"), "new")


# --- other sandboxes ---


def test_bare_is_told_where_the_folder_really_is() -> None:
    assert sandboxes.bare(INSIDE).main == ("/w/program", "x")


def test_bubblewrap_gets_the_same_job() -> None:
    commands = sandboxes.bubblewrap("/usr/bin/bwrap", INSIDE)
    text = " ".join(commands.main)
    assert text.startswith("/usr/bin/bwrap --unshare-all")
    assert "--ro-bind /opt/tool /opt/tool" in text
    assert text.endswith("--ro-bind /w /workspace --chdir /workspace /workspace/program x")
    assert commands.env == {"LANG": "C"}


def test_bubblewrap_lets_a_compiler_write_to_its_folder_and_its_cache() -> None:
    writing = Inside(INSIDE.argv, INSIDE.folder, INSIDE.env, writable=("/w", "/cache"))
    text = " ".join(sandboxes.bubblewrap("bwrap", writing).main)
    assert "--bind /cache /cache" in text
    assert "--bind /w /workspace" in text
    assert "--ro-bind /w " not in text


def test_nsjail_gets_the_same_job() -> None:
    text = " ".join(sandboxes.nsjail("/usr/bin/nsjail", INSIDE).main)
    assert "-R /opt/tool:/opt/tool" in text
    assert "-R /w:/workspace" in text
    assert text.endswith("-D /workspace -E LANG=C -- /workspace/program x")


def test_isolate_makes_a_box_and_removes_it() -> None:
    commands = sandboxes.isolate("/usr/bin/isolate", INSIDE)
    assert commands.before[-1] == "--init"
    assert commands.after[-1] == "--cleanup"
    assert "--dir=/workspace=/w" in commands.main
    assert commands.main[-4:] == ("--run", "--", "/workspace/program", "x")
    assert all("--box-id={box}" in argv for argv in (commands.before, commands.main))


def test_what_is_not_on_path_is_missing() -> None:
    with pytest.raises(Missing, match="there is no no-such-sandbox on PATH"):
        sandboxes.find("no-such-sandbox", "make it")


def docker_client(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    client = folder / "docker"
    client.write_text(f"#!/bin/sh\n{script}\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_without_a_docker_engine_docker_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    docker_client(monkeypatch, tmp_path, "echo Cannot connect >&2; exit 1")
    with pytest.raises(Missing, match="no Docker engine is up"):
        Docker()


def test_docker_without_an_image_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    docker_client(monkeypatch, tmp_path, '[ "$1" = version ] && echo 28; exit 0')
    with pytest.raises(Missing, match="no image"):
        Docker()


def test_docker_gets_the_same_job_and_its_container_is_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    docker_client(monkeypatch, tmp_path, f'echo "$@" >>{tmp_path}/log; echo abc')
    docker = Docker()
    text = " ".join(docker.run(INSIDE).main)
    assert "--network none" in text
    assert "--volume /w:/workspace:ro" in text
    assert text.endswith("abc /workspace/program x")
    at_end: list[object] = []
    main = docker.exec(INSIDE, lambda end: at_end.append(end())).main
    name = main[3]
    assert main[1:3] == ("exec", "-i")
    log = (tmp_path / "log").read_text()
    assert f"rm --force {name}" in log
    assert f"--name {name}" in log
    assert log.rstrip().endswith("abc sleep infinity")


# --- many runs ---


def state(**changes: int) -> State:
    values = {"caller_fds": 1, "spawner_fds": 1, "mounts": 1, "cgroups": 1}
    return State(caller_mb=1, spawner_mb=1, **{**values, "processes": 1, "zombies": 0, **changes})


def test_what_there_is_more_of_is_said() -> None:
    assert endurance.grown(state(), state(cgroups=0)) == []
    more = endurance.grown(state(), state(mounts=3, zombies=1))
    assert more == [
        "mounts: 1 at the beginning, 3 at the end",
        "zombies: 0 at the beginning, 1 at the end",
    ]


async def test_a_batch_is_so_many_runs_and_knows_how_many_were_warm() -> None:
    warm = itertools.cycle([True, True, False])

    async def once() -> bool:
        ran_warm = next(warm)
        await asyncio.sleep(0)
        return ran_warm

    assert await endurance.batch(once, 30, parallel=4) == 20
    assert next(warm)  # thirty were taken, no more


def test_a_child_that_nobody_waited_for_is_seen() -> None:
    child = subprocess.Popen(["/bin/true"])
    try:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert child.pid in processes.descendants(os.getpid())
        assert processes.zombies([child.pid]) == 1
    finally:
        child.wait()
    assert processes.zombies([child.pid]) == 0


def test_descriptors_and_memory_of_a_process_are_seen() -> None:
    before = processes.open_fds(os.getpid())
    reader, writer = os.pipe()
    try:
        assert processes.open_fds(os.getpid()) == before + 2
    finally:
        os.close(reader)
        os.close(writer)
    assert processes.rss_kb(os.getpid()) >= processes.private_kb(os.getpid()) > 0
    assert processes.pss_kb(os.getpid()) > 0
    assert processes.mounts(os.getpid()) > 0

"""What a tree uses, read from a /proc that the tests make up, and once from the real one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from coderunner.engines.linux.boxes import sampling

pytestmark = pytest.mark.unit

TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")


class Proc:
    """A made-up /proc."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(
        self,
        pid: int,
        *,
        children: dict[int, list[int]] | None = None,
        name: str = "x",
        ticks: tuple[int, int, int, int] = (0, 0, 0, 0),
        anon: int = 0,
        shmem: int = 0,
        swap: int = 0,
        pss: tuple[int, int, int] | None = None,
    ) -> None:
        children = children or {pid: []}
        for thread, pids in children.items():
            (self.path / f"{pid}/task/{thread}").mkdir(parents=True)
            (self.path / f"{pid}/task/{thread}/children").write_text(
                "".join(f"{child} " for child in pids)
            )
        before = "S 1 1 1 0 -1 0 0 0 0 0"
        stat = f"{pid} ({name}) {before} {' '.join(map(str, ticks))} 20 0 {len(children)} 0 99\n"
        (self.path / f"{pid}/stat").write_text(stat)
        (self.path / f"{pid}/status").write_text(
            f"Name:\tx\nRssAnon:\t{anon:8} kB\nRssFile:\t  999 kB\n"
            f"RssShmem:\t{shmem:8} kB\nVmSwap:\t{swap} kB\nThreads:\t{len(children)}\n"
        )
        if pss is not None:
            (self.path / f"{pid}/smaps_rollup").write_text(
                "000-fff ---p 00000000 00:00 0 [rollup]\nPss: 999 kB\n"
                f"Pss_Anon: {pss[0]} kB\nPss_File: 999 kB\nPss_Shmem: {pss[1]} kB\n"
                f"Swap: 999 kB\nSwapPss: {pss[2]} kB\n"
            )

    def __str__(self) -> str:
        return str(self.path)


@pytest.fixture
def proc(tmp_path: Path) -> Proc:
    return Proc(tmp_path)


def test_a_tree_has_the_children_of_all_threads(proc: Proc) -> None:
    proc.add(1, children={1: [2], 10: [3, 4]})
    proc.add(2, children={2: [5]})
    for pid in (3, 4, 5, 99):
        proc.add(pid)
    found = sampling.tree(1, str(proc))
    assert found[0] == 1
    assert sorted(found) == [1, 2, 3, 4, 5]


def test_a_tree_without_its_root_is_empty(proc: Proc) -> None:
    assert sampling.tree(1, str(proc)) == []
    sample = sampling.sample(1, str(proc))
    assert (sample.memory_kb, sample.cpu_ms, sample.tasks) == (0, 0, 0)


def test_children_that_are_gone_do_not_count(proc: Proc) -> None:
    proc.add(1, children={1: [2, 3]})
    proc.add(3)
    assert sampling.tree(1, str(proc)) == [1, 3]


def test_a_circle_comes_to_an_end(proc: Proc) -> None:
    """A pid that is used anew while we look."""
    proc.add(1, children={1: [2]})
    proc.add(2, children={2: [1, 2]})
    assert sampling.tree(1, str(proc)) == [1, 2]


def test_cpu_time_with_that_of_waited_for_children(proc: Proc) -> None:
    proc.add(1, children={1: [2]}, ticks=(1, 20, 300, 4000))
    proc.add(2, ticks=(50000, 0, 0, 0))
    assert sampling.sample(1, str(proc)).cpu_ms == pytest.approx(54321 * TICK_MS)


@pytest.mark.parametrize("name", ["a b", "a) S 1 (b", "((", "1 2 3 4 5 6 7 8 9"])
def test_names_cannot_lie(proc: Proc, name: str) -> None:
    proc.add(1, name=name, ticks=(7, 0, 0, 0))
    sample = sampling.sample(1, str(proc))
    assert (sample.cpu_ms, sample.tasks) == (7 * TICK_MS, 1)


def test_memory_is_anonymous_shared_and_swapped_but_no_mapped_files(proc: Proc) -> None:
    proc.add(1, children={1: [2]}, anon=100, shmem=20, swap=3)
    proc.add(2, anon=1000)
    assert sampling.sample(1, str(proc)).memory_kb == 1123


def test_tasks_are_threads(proc: Proc) -> None:
    proc.add(1, children={1: [2], 10: [], 11: []})
    proc.add(2)
    assert sampling.sample(1, str(proc)).tasks == 4


def test_exact_memory_counts_shared_pages_once(proc: Proc) -> None:
    proc.add(1, anon=100, pss=(50, 5, 1))
    proc.add(2, anon=100, pss=(60, 0, 0))
    assert sampling.exact_memory_kb([1, 2, 3], str(proc)) == 116


def test_exact_memory_that_cannot_be_had(proc: Proc) -> None:
    proc.add(1, anon=100)
    assert sampling.exact_memory_kb([1], str(proc)) is None
    (proc.path / "1/smaps_rollup").write_text("Pss: 5 kB\n")  # before Linux 5.4
    assert sampling.exact_memory_kb([1], str(proc)) is None


def test_exact_memory_of_a_zombie_is_nothing(proc: Proc) -> None:
    proc.add(1)
    assert sampling.exact_memory_kb([1], str(proc)) == 0


def test_the_real_proc() -> None:
    assert sampling.supported()
    with subprocess.Popen(["/bin/sleep", "60"]) as child:
        try:
            assert child.pid in sampling.tree(os.getpid())
            sample = sampling.sample(os.getpid())
            assert sample.memory_kb > 1000
            assert sample.cpu_ms > 0
            assert sample.tasks >= 2
            exact = sampling.exact_memory_kb([os.getpid()])
            assert exact is None or exact > 1000
        finally:
            child.kill()


def test_a_proc_that_cannot_tell(tmp_path: Path) -> None:
    assert not sampling.supported(str(tmp_path))

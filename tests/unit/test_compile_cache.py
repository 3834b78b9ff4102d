"""The cache of compilations: what it gives back, what it refuses, and what it forgets."""

from __future__ import annotations

import multiprocessing
import os
import stat
import threading
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderunner.compile_cache import CompileCache, Compiled
from coderunner.compile_cache.entry import pack, unpack
from coderunner.model import EndedBy, File, Isolation, Outcome, Output, Usage
from coderunner.workspace import CollectedFile

pytestmark = pytest.mark.unit

KEY = "ab" * 32
OTHER = "cd" * 32


def compiled(content: bytes = b"\x7fELF", said: bytes = b"a warning\n") -> Compiled:
    outcome = Outcome(
        ended_by=EndedBy.EXIT,
        exit_code=0,
        signal=None,
        usage=Usage(12.5, 11.0, 4096),
        stdout=Output(),
        stderr=Output(said, b"tail", 7),
        isolation=Isolation.FULL,
        engine="linux",
    )
    return Compiled(outcome, (CollectedFile("program", content, executable=True),))


def number(n: int) -> str:
    return f"{n:064x}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "compiled"


@pytest.fixture
def cache(folder: Path) -> CompileCache:
    return CompileCache(folder, 1 << 20)


def used(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_it_gives_back_what_it_got_and_says_so(cache: CompileCache) -> None:
    assert cache.get(KEY) is None
    cache.put(KEY, compiled())
    found = cache.get(KEY)
    assert found is not None
    assert found.outcome == replace(compiled().outcome, cached=True)
    assert found.files == compiled().files
    assert cache.get(OTHER) is None


@given(
    files=st.lists(st.tuples(st.text(), st.binary(), st.booleans())),
    outputs=st.tuples(st.binary(), st.binary(), st.binary(), st.binary()),
    dropped=st.tuples(st.integers(0, 2**70), st.integers(0, 9)),
)
def test_whatever_is_packed_comes_out(
    files: list[tuple[str, bytes, bool]],
    outputs: tuple[bytes, bytes, bytes, bytes],
    dropped: tuple[int, int],
) -> None:
    a, b, c, d = outputs
    stdout, stderr = Output(a, b, dropped[0]), Output(c, d, dropped[1])
    outcome = replace(compiled().outcome, stdout=stdout, stderr=stderr)
    given_ = Compiled(outcome, tuple(CollectedFile(*file) for file in files))
    found = unpack(KEY, pack(KEY, given_))
    assert found == Compiled(replace(outcome, cached=True), given_.files)


@given(st.data())
def test_no_damaged_entry_is_believed(data: st.DataObject) -> None:
    packed = pack(KEY, compiled())
    place = data.draw(st.integers(0, len(packed) - 1))
    value = data.draw(st.integers(1, 255))
    damaged = packed[:place] + bytes([packed[place] ^ value]) + packed[place + 1 :]
    shorter = packed[:place]
    assert unpack(KEY, damaged) is None
    assert unpack(KEY, shorter) is None
    assert unpack(KEY, packed + bytes([value])) is None
    assert unpack(OTHER, packed) is None


def test_a_plain_file_stays_one() -> None:
    found = unpack(KEY, pack(KEY, Compiled(compiled().outcome, (File("a.js", b"1"),))))
    assert found is not None
    assert found.files == (CollectedFile("a.js", b"1", executable=False),)


def test_a_damaged_entry_is_a_miss_and_goes(cache: CompileCache, folder: Path) -> None:
    cache.put(KEY, compiled())
    data = (folder / KEY).read_bytes()
    (folder / KEY).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert cache.get(KEY) is None
    assert list(folder.iterdir()) == []


def test_an_entry_under_another_name_is_none(cache: CompileCache, folder: Path) -> None:
    cache.put(KEY, compiled())
    (folder / KEY).rename(folder / OTHER)
    assert cache.get(OTHER) is None


def test_a_link_is_not_followed(cache: CompileCache, folder: Path, tmp_path: Path) -> None:
    cache.put(KEY, compiled())
    (folder / KEY).rename(tmp_path / "elsewhere")
    (folder / KEY).symlink_to(tmp_path / "elsewhere")
    assert cache.get(KEY) is None
    assert (tmp_path / "elsewhere").exists()


def test_a_second_name_of_an_entry_is_not_believed(cache: CompileCache, folder: Path) -> None:
    cache.put(KEY, compiled())
    os.link(folder / KEY, folder / "another-name")
    assert cache.get(KEY) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_others_could_write_is_not_believed(
    cache: CompileCache, folder: Path, mode: int
) -> None:
    cache.put(KEY, compiled())
    (folder / KEY).chmod(mode)
    assert cache.get(KEY) is None


@pytest.mark.as_root
def test_an_entry_of_somebody_else_is_not_believed(cache: CompileCache, folder: Path) -> None:
    cache.put(KEY, compiled())
    os.chown(folder / KEY, 12345, 12345)
    assert cache.get(KEY) is None


@pytest.mark.as_root
def test_a_directory_of_somebody_else_is_not_used(cache: CompileCache, folder: Path) -> None:
    cache.put(KEY, compiled())
    os.chown(folder, 12345, 12345)
    assert cache.get(KEY) is None
    cache.put(OTHER, compiled())
    assert [path.name for path in folder.iterdir()] == [KEY]


def test_a_link_in_place_of_the_directory_is_not_used(folder: Path, tmp_path: Path) -> None:
    bait = tmp_path / "bait"
    CompileCache(bait, 1 << 20).put(KEY, compiled())
    folder.parent.mkdir()
    folder.symlink_to(bait)
    cache = CompileCache(folder, 1 << 20)
    assert cache.get(KEY) is None
    cache.put(OTHER, compiled())
    assert [path.name for path in bait.iterdir()] == [KEY]


def test_it_is_closed_to_others(cache: CompileCache, folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    cache.put(KEY, compiled())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / KEY).stat().st_mode) == 0o600


@pytest.mark.parametrize("wanted", ["relative/path", "/proc/no/such", "/dev/null/x"])
def test_without_a_directory_nothing_is_kept_and_nothing_raises(wanted: str) -> None:
    cache = CompileCache(Path(wanted), 1 << 20)
    cache.put(KEY, compiled())
    assert cache.get(KEY) is None


def test_something_odd_in_the_place_of_an_entry(cache: CompileCache, folder: Path) -> None:
    cache.put(OTHER, compiled())
    (folder / KEY).mkdir()
    os.mkfifo(folder / number(1))
    assert cache.get(KEY) is None
    assert cache.get(number(1)) is None
    cache.put(number(1), compiled())
    assert cache.get(number(1)) is not None


def test_it_never_grows_beyond_its_bound(folder: Path) -> None:
    cache = CompileCache(folder, 50_000)
    for n in range(40):
        cache.put(number(n), compiled(b"x" * 3000))
        assert used(folder) <= 50_000
    assert cache.get(number(39)) is not None
    assert cache.get(number(0)) is None


def test_the_number_of_entries_is_bounded_too(folder: Path) -> None:
    cache = CompileCache(folder, 1 << 20, max_entries=5)
    for n in range(9):
        cache.put(number(n), compiled())
    assert len(list(folder.iterdir())) == 5


def test_what_was_used_last_stays(folder: Path) -> None:
    cache = CompileCache(folder, 1 << 20, max_entries=3)
    for n in range(3):
        cache.put(number(n), compiled())
        os.utime(folder / number(n), (n, n))
    assert cache.get(number(0)) is not None
    cache.put(number(3), compiled())
    kept = {path.name for path in folder.iterdir()}
    assert kept == {number(0), number(2), number(3)}


def test_something_huge_does_not_push_out_all_the_rest(folder: Path) -> None:
    cache = CompileCache(folder, 80_000)
    cache.put(KEY, compiled())
    cache.put(OTHER, compiled(b"x" * 20_000))
    assert cache.get(OTHER) is None
    assert cache.get(KEY) is not None


def test_what_was_never_finished_is_cleared_away(cache: CompileCache, folder: Path) -> None:
    cache.put(KEY, compiled())
    for name, age in {".new-old": 7200, ".new-now": 0}.items():
        (folder / name).write_bytes(b"half")
        when = os.stat(folder / KEY).st_mtime - age
        os.utime(folder / name, (when, when))
    cache.put(OTHER, compiled())
    assert sorted(path.name for path in folder.iterdir()) == sorted([".new-now", KEY, OTHER])


def test_a_failed_write_leaves_nothing(
    cache: CompileCache, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    cache.put(OTHER, compiled())
    monkeypatch.setattr(os, "rename", full)
    cache.put(KEY, compiled())
    assert [path.name for path in folder.iterdir()] == [OTHER]


def _hammer(folder: Path, seed: int) -> None:
    """Write and read the same few entries; what is read must be whole and belong to its key."""
    cache = CompileCache(folder, 60_000, max_entries=6)
    for n in range(150):
        key = (n * 7 + seed) % 8
        cache.put(number(key), compiled(b"%d" % key * 4000))
        other = (n + seed) % 8
        found = cache.get(number(other))
        if found is not None:
            assert found.files[0].content == b"%d" % other * 4000


def test_many_processes_and_threads_at_once(folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_hammer, args=(folder, n)) for n in range(3)]
    threads = [threading.Thread(target=_hammer, args=(folder, n)) for n in (5, 6)]
    workers: list[BaseProcess | threading.Thread] = [*processes, *threads]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert len(list(folder.iterdir())) <= 6


@pytest.mark.as_root
def test_root_leaves_nothing_in_the_home_of_another(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 12345, 12345)
    CompileCache(home / ".cache/coderunner/compiled", 1 << 20).put(KEY, compiled())
    assert list(home.iterdir()) == []

"""Reading back and removing trees that somebody made to do harm."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coderunner.workspace import Collection, collect, remove_tree
from coderunner.workspace.collection import MAX_DEPTH, MAX_SKIPPED
from coderunner.workspace.names import decoded

pytestmark = pytest.mark.unit

SECRET = b"nobody may see this"


@dataclass(frozen=True)
class Regular:
    content: bytes
    mode: int = 0o644


@dataclass(frozen=True)
class Sparse:
    size: int


@dataclass(frozen=True)
class Link:
    target: str


@dataclass(frozen=True)
class Special:
    kind: int


@dataclass(frozen=True)
class Directory:
    entries: dict[bytes, Node]


Node = Regular | Sparse | Link | Special | Directory

OUT = "OUT"  # stands for a directory with a secret in it
names = (
    st.binary(min_size=1, max_size=6)
    | st.sampled_from([b"a", b"b", b"\xff\n\x1b[31m", b"x" * 255, b"...", b"-rf", "é".encode()])
).filter(lambda name: name not in (b".", b"..") and not {0, 47} & set(name))
leaves = (
    st.builds(Regular, st.binary(max_size=30), st.sampled_from([0o644, 0o755]))
    | st.builds(Sparse, st.sampled_from([(64 << 20) + 1, 1 << 40]))
    | st.builds(Link, st.sampled_from([OUT, f"{OUT}/secret", ".", "..", "/", "a", "/dev/zero"]))
    | st.builds(Special, st.sampled_from([stat.S_IFIFO, stat.S_IFSOCK]))
)


def directories(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Directory]:
    return st.builds(Directory, st.dictionaries(names, inner, max_size=5))


def deep(levels: int) -> Directory:
    node: Node = Regular(b"treasure")
    for _ in range(levels):
        node = Directory({b"d": node})
    return Directory({b"d": node})


trees = directories(st.recursive(leaves, directories, max_leaves=12)) | st.builds(
    deep, st.sampled_from([MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 300])
)


def plant(node: Node, name: bytes, parent: int, out: Path) -> None:
    match node:
        case Regular(content, mode):
            fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode, dir_fd=parent)
            os.write(fd, content)
            os.close(fd)
        case Sparse(size):
            fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, dir_fd=parent)
            os.truncate(fd, size)
            os.close(fd)
        case Link(target):
            os.symlink(target.replace(OUT, str(out)), name, dir_fd=parent)
        case Special(kind):
            os.mknod(name, kind | 0o644, dir_fd=parent)
        case Directory(entries):
            os.mkdir(name, dir_fd=parent)
            fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=parent)
            for inner, child in entries.items():
                plant(child, inner, fd, out)
            os.close(fd)


def walk(node: Directory, prefix: bytes = b"", depth: int = 0) -> Iterator[tuple[str, Node]]:
    """All there is to be seen, in the order of the names; a directory that is too deep is seen
    from outside only."""
    for name, child in sorted(node.entries.items()):
        if isinstance(child, Directory) and depth < MAX_DEPTH:
            yield from walk(child, prefix + name + b"/", depth + 1)
        else:
            yield decoded(prefix + name), child


def regular_files(tree: Directory) -> dict[str, bytes]:
    return {name: node.content for name, node in walk(tree) if isinstance(node, Regular)}


def skipped_in(tree: Directory) -> list[str]:
    return [name for name, node in walk(tree) if not isinstance(node, Regular)]


@contextlib.contextmanager
def planted(tree: Directory, out: Path) -> Iterator[int]:
    """A directory fd of the tree on disk, which is gone afterwards, and nothing else with it."""
    (out / "secret").write_bytes(SECRET)
    plant(tree, b"tree", fd := os.open(out, os.O_RDONLY | os.O_DIRECTORY), out)
    top = os.open("tree", os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd)
    try:
        yield top
    finally:
        os.close(top)
        os.close(fd)
        remove_tree(out / "tree")
    assert os.listdir(out) == ["secret"]
    assert (out / "secret").read_bytes() == SECRET


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """A hang becomes a failure."""

    def give_up(number: int, frame: object) -> None:
        raise AssertionError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


def contents(found: Collection) -> dict[str, bytes]:
    return {file.name: file.content for file in found.files}


@given(tree=trees)
def test_all_regular_files_are_found_and_nothing_else(out: Path, tree: Directory) -> None:
    held = os.listdir("/proc/self/fd")
    with planted(tree, out) as top, within(30):
        found = collect(top, ["**"])
        assert contents(found) == regular_files(tree)
        assert [entry.name for entry in found.skipped] == skipped_in(tree)
        assert found.skipped_count == len(found.skipped)
    assert os.listdir("/proc/self/fd") == held


patterns = st.lists(
    st.sampled_from(["**", "*", "a", "a/**", "**/a", "**/*/**", "[!a]*", "*/*", "d/**/d/**"]),
    max_size=3,
)


@given(tree=trees, wanted=patterns, max_files=st.integers(0, 4), max_bytes=st.integers(0, 60))
@example(
    tree=Directory({b"a": Regular(bytes(20)), b"b": Regular(bytes(20)), b"c": Regular(bytes(10))}),
    wanted=["*"],
    max_files=4,
    max_bytes=30,
)
@example(tree=deep(MAX_DEPTH), wanted=["**/**/**/**/x"], max_files=1, max_bytes=1)
def test_a_collection_stays_within_its_bounds(
    out: Path, tree: Directory, wanted: list[str], max_files: int, max_bytes: int
) -> None:
    with planted(tree, out) as top, within(30):
        found = collect(top, wanted, max_files=max_files, max_bytes=max_bytes)
    assert len(found.files) <= max_files
    assert sum(len(file.content) for file in found.files) <= max_bytes
    assert len(found.skipped) == min(found.skipped_count, MAX_SKIPPED)
    assert contents(found).items() <= regular_files(tree).items()

"""Safe names in, safe collection out, and nothing left behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderunner.errors import InvalidInput, InvalidProgram
from coderunner.model import File
from coderunner.workspace import (
    CollectedFile,
    Collection,
    Workspace,
    check_names,
    collect,
    remove_tree,
)
from coderunner.workspace import collection as collection_module
from coderunner.workspace.patterns import Matcher
from coderunner.workspace.root import make_root, sweep

pytestmark = pytest.mark.unit


def named(*names: str) -> list[File]:
    return [File(name, b"") for name in names]


# Names.


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "/etc/passwd",
        "..",
        "../x",
        "a/../b",
        "a/..",
        ".",
        "./a",
        "a/./b",
        "a//b",
        "a/",
        "a\0b",
        "a\\b",
        "..\\x",
        "x" * 256,
        "é" * 128,
        "/".join(["x" * 100] * 11),
        "\ud800",
        "a\udc80",
    ],
)
def test_unsafe_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidProgram) as caught:
        check_names(named("main.py", name))
    assert str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["a", "...", "..a", "a..", "-rf", " ", "a b/c d", "src/é.c", "line\nbreak", "x" * 255, "a:b"],
)
def test_odd_but_safe_names_work(name: str) -> None:
    check_names(named(name))
    with Workspace() as workspace:
        workspace.add([File(name, b"content")])
        assert (workspace.path / name).read_bytes() == b"content"


@pytest.mark.parametrize("names", [("a", "a"), ("a", "a/b"), ("a/b", "a"), ("a/b/c", "x", "a/b")])
def test_names_that_clash_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidProgram):
        check_names(named(*names))


def test_a_program_needs_files() -> None:
    with pytest.raises(InvalidProgram, match="at least one file"):
        check_names([])


def test_content_is_bytes() -> None:
    with pytest.raises(InvalidProgram, match="must be bytes") as caught:
        check_names([File("a.py", "print(1)")])  # type: ignore[arg-type]
    assert "encode" in caught.value.hint


def test_a_long_name_makes_a_short_message() -> None:
    with pytest.raises(InvalidProgram) as caught:
        check_names(named("x" * 1_000_000))
    assert len(str(caught.value)) < 300


@given(st.text(alphabet=st.sampled_from(["a", "b", ".", "/", "\\", "\0", "é", "\ud800"])))
def test_what_is_accepted_stays_inside(name: str) -> None:
    with Workspace() as workspace:
        try:
            check_names(named(name))
        except InvalidProgram:
            with pytest.raises(InvalidProgram):
                workspace.add([File(name, b"x")])
            assert os.listdir(workspace.path) == []
        else:
            workspace.add([File(name, b"x")])
            assert (workspace.path / name).resolve().is_relative_to(workspace.path.resolve())
            assert (workspace.path / name).read_bytes() == b"x"


@given(st.lists(st.sampled_from(["a", "b", "a/b", "a/c", "a/b/c", "b/a"]), min_size=1, max_size=4))
def test_what_is_accepted_together_fits_together(names: list[str]) -> None:
    with Workspace() as workspace:
        try:
            check_names(named(*names))
        except InvalidProgram:
            return
        workspace.add(named(*names))
        for name in names:
            assert (workspace.path / name).is_file()


# The directory.


def test_a_workspace_is_private_and_gone_afterwards() -> None:
    with Workspace() as workspace:
        assert workspace.path.stat().st_mode & 0o7777 == 0o700
        assert workspace.path.parent.stat().st_mode & 0o7777 == 0o700
        workspace.add([File("a/b/c.txt", b"\xff\x00")])
    assert not workspace.path.exists()
    workspace.remove()


def test_modes_do_not_depend_on_the_umask() -> None:
    before = os.umask(0o077)
    try:
        with Workspace() as workspace:
            workspace.add([File("d/source", b""), CollectedFile("program", b"", executable=True)])
            workspace.add([File("tool", b"")], mode=0o755)
            modes = {
                name: (workspace.path / name).stat().st_mode & 0o777
                for name in ("d", "d/source", "program", "tool")
            }
    finally:
        os.umask(before)
    assert modes == {"d": 0o755, "d/source": 0o644, "program": 0o755, "tool": 0o755}


def test_files_are_never_overwritten_nor_symlinks_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"precious")
    with Workspace() as workspace:
        (workspace.path / "link").symlink_to(tmp_path / "target")
        (workspace.path / "dir").symlink_to(tmp_path)
        workspace.add(named("a"))
        for name in ("a", "link", "dir/target", "dir/new", "a/b"):
            with pytest.raises(InvalidProgram):
                workspace.add([File(name, b"evil")])
    assert (tmp_path / "target").read_bytes() == b"precious"
    assert os.listdir(tmp_path) == ["target"]


def test_many_workspaces_leave_no_fd() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        with Workspace() as workspace:
            workspace.add(named("a/b", "c"))
    assert len(os.listdir("/proc/self/fd")) <= before + 1  # the root's lock
    assert os.listdir(workspace.path.parent) == []


# The root, and what the dead leave behind.

MAKE_A_WORKSPACE = """
import sys
from coderunner.workspace import Workspace
workspace = Workspace()
print(workspace.path, flush=True)
sys.stdin.read()
"""


def start_owner(temp: Path) -> tuple[subprocess.Popen[str], Path]:
    owner = subprocess.Popen(
        [sys.executable, "-c", MAKE_A_WORKSPACE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temp), "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert owner.stdout is not None
    path = Path(owner.stdout.readline().strip())
    assert path.is_dir()
    assert path.parent.parent == temp
    return owner, path


def end(owner: subprocess.Popen[str], how: signal.Signals | None) -> None:
    if how is None:
        owner.communicate(timeout=10)
    else:
        owner.send_signal(how)
        owner.communicate(timeout=10)


def test_a_normal_end_leaves_nothing(tmp_path: Path) -> None:
    owner, _ = start_owner(tmp_path)
    end(owner, None)
    assert os.listdir(tmp_path) == []


def test_leftovers_of_a_killed_process_go_at_the_next_start(tmp_path: Path) -> None:
    alive, path_of_alive = start_owner(tmp_path)
    killed, path_of_killed = start_owner(tmp_path)
    (path_of_killed / "deep" / "er").mkdir(parents=True)
    end(killed, signal.SIGKILL)
    assert path_of_killed.exists()
    next_one, path_of_next = start_owner(tmp_path)
    assert not path_of_killed.parent.exists()
    assert path_of_alive.exists()
    assert path_of_next.exists()
    end(alive, None)
    end(next_one, None)
    assert os.listdir(tmp_path) == []


def test_the_sweep_touches_only_its_own(tmp_path: Path) -> None:
    prefix = f"coderunner-{os.geteuid()}-"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").touch()
    (tmp_path / f"{prefix}link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / f"{prefix}file").touch()
    (tmp_path / f"coderunner-{os.geteuid() + 1}-other").mkdir()
    (tmp_path / f"{prefix}dead").mkdir()
    (tmp_path / f"{prefix}dead" / "leftover").touch()
    sweep(tmp_path)
    assert not (tmp_path / f"{prefix}dead").exists()
    assert len(os.listdir(tmp_path)) == 4
    assert (tmp_path / "elsewhere" / "file").exists()


@pytest.mark.as_root
def test_the_sweep_leaves_directories_of_others_alone(tmp_path: Path) -> None:
    foreign = tmp_path / f"coderunner-{os.geteuid()}-foreign"
    foreign.mkdir()
    os.chown(foreign, 12345, 12345)
    sweep(tmp_path)
    assert foreign.exists()


def test_processes_that_start_at_once_do_not_sweep_each_other(tmp_path: Path) -> None:
    made, failures = [], []
    stop = threading.Event()

    def sweep_on() -> None:
        while not stop.is_set():
            sweep(tmp_path)

    sweeper = threading.Thread(target=sweep_on)
    sweeper.start()
    try:
        for _ in range(300):
            root = make_root(tmp_path)
            made.append(root)
            if not root.path.is_dir():
                failures.append(root.path)
    finally:
        stop.set()
        sweeper.join()
    failures += [root.path for root in made if not root.path.is_dir()]
    assert failures == []
    for root in made:
        root.remove()
    assert os.listdir(tmp_path) == []


def test_a_forked_child_has_a_root_of_its_own(tmp_path: Path) -> None:
    script = (
        "import os\n"
        "from coderunner.workspace import Workspace\n"
        "mine = Workspace()\n"
        "if os.fork() == 0:\n"
        "    other = Workspace()\n"
        "    assert other.path.parent != mine.path.parent\n"
        "    raise SystemExit\n"
        "assert os.wait()[1] == 0\n"
        "assert mine.path.is_dir()\n"
    )
    environ = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", script], env=environ, check=True, timeout=20)
    assert os.listdir(tmp_path) == []


# Removing.


@pytest.mark.slow
def test_remove_50_000_deep_directories(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    fd = os.open(top, os.O_RDONLY)
    for _ in range(50_000):
        os.mkdir("d", dir_fd=fd)
        inner = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(os.open("file", os.O_CREAT, dir_fd=fd))
    os.close(fd)
    remove_tree(top)
    assert not top.exists()


def test_remove_wide_and_branching_trees(tmp_path: Path) -> None:
    for a in range(12):
        for b in range(12):
            (tmp_path / "top" / f"{a}" / f"{b}" / "c" / "d").mkdir(parents=True)
            for f in range(5):
                (tmp_path / "top" / f"{a}" / f"{b}" / "c" / f"{f}").touch()
    remove_tree(tmp_path / "top")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o500, 0o100, 0o200])
def test_remove_directories_without_permission_bits(tmp_path: Path, mode: int) -> None:
    deep = tmp_path / "top" / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (deep / "file").touch()
    for directory in (deep, deep.parent, deep.parent.parent, tmp_path / "top"):
        directory.chmod(mode)
    remove_tree(tmp_path / "top")
    assert os.listdir(tmp_path) == []


def test_remove_never_follows_a_symlink(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o500)
    os.chmod(outside, 0o755)
    (outside / "precious").touch()
    top = tmp_path / "top"
    (top / "a").mkdir(parents=True)
    (top / "link").symlink_to(outside)
    (top / "a" / "link").symlink_to(outside)
    (top / "a" / "loop").symlink_to(top)
    remove_tree(top)
    assert sorted(os.listdir(tmp_path)) == ["outside"]
    assert os.listdir(outside) == ["precious"]
    assert outside.stat().st_mode & 0o777 == 0o755


def test_remove_a_symlink_to_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(OSError, match="link"):
        remove_tree(tmp_path / "link")
    assert (tmp_path / "real").is_dir()


def test_remove_what_is_not_there_is_fine(tmp_path: Path) -> None:
    remove_tree(tmp_path / "nothing")


def test_remove_odd_names_and_kinds(tmp_path: Path) -> None:
    top = os.fsencode(tmp_path / "top")
    os.mkdir(top)
    os.mkdir(top + b"/\xff\n")
    os.close(os.open(top + b"/\xff\n/\xfe", os.O_CREAT))
    os.mkfifo(top + b"/fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(top + b"/socket")
    remove_tree(tmp_path / "top")
    assert os.listdir(tmp_path) == []


# Collecting.


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    (tmp_path / "work").mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    fd = os.open(tmp_path / "work", os.O_RDONLY)
    yield tmp_path / "work", fd
    os.close(fd)


def contents(found: Collection) -> dict[str, bytes]:
    return {file.name: file.content for file in found.files}


def reasons(found: Collection) -> dict[str, str]:
    return {skipped.name: skipped.reason for skipped in found.skipped}


def test_collect_by_pattern(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    for name in ("program", "A.class", "p/B.class", "p/q/C.class", "build/x", "build/y/z", "other"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(name.encode())

    def names(*patterns: str) -> list[str]:
        return sorted(contents(collect(fd, patterns)))

    assert names("program") == ["program"]
    assert names("*.class") == ["A.class"]
    assert names("**/*.class") == ["A.class", "p/B.class", "p/q/C.class"]
    assert names("build/**") == ["build/x", "build/y/z"]
    assert names("program", "p/*.class") == ["p/B.class", "program"]
    assert names("**") == sorted(
        ["A.class", "build/x", "build/y/z", "other", "p/B.class", "p/q/C.class", "program"]
    )
    assert names("build", "nothing", "PROGRAM") == []


def test_collect_keeps_the_executable_bit(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    (work / "a").write_bytes(b"1")
    (work / "b").write_bytes(b"2")
    (work / "a").chmod(0o755)
    assert collect(fd, ["*"]).files == (
        CollectedFile("a", b"1", executable=True),
        CollectedFile("b", b"2", executable=False),
    )


def test_collect_takes_only_regular_files(hostile: tuple[Path, int], tmp_path: Path) -> None:
    work, fd = hostile
    (work / "symlink").symlink_to(tmp_path / "secret")
    (work / "directory-link").symlink_to(tmp_path)
    (work / "self").symlink_to(work)
    os.mkfifo(work / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(work / "socket"))
    (work / "real").write_bytes(b"x")
    found = collect(fd, ["**"])
    assert contents(found) == {"real": b"x"}
    assert reasons(found) == {
        "symlink": "a symbolic link",
        "directory-link": "a symbolic link",
        "self": "a symbolic link",
        "fifo": "a named pipe",
        "socket": "a socket",
    }


@pytest.mark.as_root
def test_collect_skips_devices(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    os.mknod(work / "zero", 0o666 | 0o020000, os.makedev(1, 5))
    assert reasons(collect(fd, ["*"])) == {"zero": "a device"}


def test_collect_does_not_enter_a_symlinked_directory(
    hostile: tuple[Path, int], tmp_path: Path
) -> None:
    work, fd = hostile
    (work / "build").symlink_to(tmp_path)
    found = collect(fd, ["build/**"])
    assert found.files == ()
    assert reasons(found) == {"build": "a symbolic link"}


def test_collect_is_not_fooled_when_a_file_changes_its_kind(
    hostile: tuple[Path, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the program swapped the file between the look at it and its opening."""
    work, fd = hostile
    (work / "real").write_bytes(b"x")
    real = os.stat(work / "real")
    (work / "link").symlink_to(tmp_path / "secret")
    (work / "dir").symlink_to(tmp_path)
    os.mkfifo(work / "fifo")
    monkeypatch.setattr(os, "stat", lambda *_, **__: real)
    found = collect(fd, ["**"])
    assert contents(found) == {"real": b"x"}
    assert set(reasons(found)) == {"link", "dir", "fifo"}


def test_a_sparse_terabyte_costs_nothing(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    with (work / "huge").open("wb") as file:
        file.truncate(1 << 40)
    (work / "small").write_bytes(b"x")
    found = collect(fd, ["*"], max_bytes=1000)
    assert contents(found) == {"small": b"x"}
    assert "1099511627776 bytes" in reasons(found)["huge"]


def test_collect_caps_bytes_in_total(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    for name in "abc":
        (work / name).write_bytes(bytes(40))
    found = collect(fd, ["*"], max_bytes=80)
    assert list(contents(found)) == ["a", "b"]
    assert list(reasons(found)) == ["c"]


def test_collect_notices_a_file_that_is_longer_than_it_says(
    hostile: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    work, fd = hostile
    (work / "small").touch()
    empty = os.stat(work / "small")
    (work / "small").write_bytes(bytes(101))
    monkeypatch.setattr(os, "fstat", lambda _: empty)
    assert collect(fd, ["*"], max_bytes=100).files == ()
    assert len(collect(fd, ["*"], max_bytes=101).files) == 1


def test_collect_caps_files_and_the_list_of_what_it_skipped(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    for number in range(300):
        (work / f"{number:03}").touch()
    found = collect(fd, ["*"], max_files=5)
    assert list(contents(found)) == ["000", "001", "002", "003", "004"]
    assert len(found.skipped) == 100
    assert found.skipped_count == 295


def test_collect_caps_entries(hostile: tuple[Path, int], monkeypatch: pytest.MonkeyPatch) -> None:
    work, fd = hostile
    monkeypatch.setattr(collection_module, "MAX_ENTRIES", 50)
    for number in range(60):
        (work / f"{number}").touch()
    found = collection_module._Walk(1000, 1000, entries_left=50)
    found.directory(fd, "", Matcher(["*"]), 0)
    assert len(found.files) == 50
    assert found.skipped[0].reason == "more than 50 entries"


def test_collect_caps_depth_and_leaves_no_fd(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    (work / "/".join("d" * 40)).mkdir(parents=True)
    (work / "/".join("d" * 40) / "file").touch()
    (work / "/".join("d" * 32) / "file").touch()
    before = os.listdir("/proc/self/fd")
    found = collect(fd, ["**"])
    assert os.listdir("/proc/self/fd") == before
    assert list(contents(found)) == ["d/" * 32 + "file"]
    assert list(reasons(found)) == ["/".join("d" * 33)]


def test_collect_names_that_are_not_utf8(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    (work / os.fsdecode(b"\xff\n\x1b[31m")).write_bytes(b"x")
    (found,) = collect(fd, ["*"]).files
    assert found.name == "\udcff\n\x1b[31m"
    with Workspace() as workspace:
        workspace.add([found])
        assert os.listdir(os.fsencode(workspace.path)) == [b"\xff\n\x1b[31m"]


@pytest.mark.as_user
def test_collect_says_what_it_may_not_read(hostile: tuple[Path, int]) -> None:
    work, fd = hostile
    (work / "file").touch(mode=0o000)
    (work / "dir").mkdir(mode=0o000)
    assert reasons(collect(fd, ["**"])) == {"file": "permission denied", "dir": "permission denied"}
    (work / "dir").chmod(0o700)


@pytest.mark.parametrize("pattern", ["", "/etc/*", "../*", "a/../b", "a//b", "./a"])
def test_collect_refuses_patterns_that_lead_out(hostile: tuple[Path, int], pattern: str) -> None:
    with pytest.raises(InvalidInput, match="pattern"):
        collect(hostile[1], [pattern])


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("**/a/**/a/**", "a/a/x", True),
        ("**/a/**/a/**", "b/a/b/a/b/x", True),
        ("**/a/**/a/**", "a/x", False),
        ("**/x", "x", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/c/d/b", True),
        ("a/*/b", "a/c/d/b", False),
        ("a*", "a/b", False),
        ("[ab]?", "bc", True),
        ("build/**", "build", False),
    ],
)
def test_patterns(pattern: str, path: str, matches: bool) -> None:
    matcher = Matcher([pattern])
    for part in path.split("/"):
        matcher = matcher.enter(part)
    assert matcher.matched is matches


def test_a_pattern_with_many_stars_is_cheap() -> None:
    matcher = Matcher(["/".join(["**", "a"] * 30)])
    for _ in range(60):
        matcher = matcher.enter("a")
    assert matcher.matched

"""Names of files: whatever they are, either all files lie where they belong, or there are none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coderunner.errors import InvalidProgram
from coderunner.model import File
from coderunner.workspace import Workspace, check_names
from coderunner.workspace.names import encoded
from tests.properties.refusal import refusal

pytestmark = pytest.mark.unit

CANARY = "CANARY"  # stands for a directory that must not change
ODD = ["", ".", "..", "...", "a", "A", "b", "é", "e\u0301", "\udcc3\udca9", "\ud800", "\udcff",
       "\0", "a\0", "\n", "\x1b[31m", "-rf", "a\\b", "..\\..", " ", "~", "$HOME", "*", "x" * 255,
       "x" * 256, "é" * 128, CANARY]  # fmt: skip

parts = st.sampled_from(ODD) | st.text(st.characters(exclude_characters="/"), max_size=4)
names = st.builds(
    lambda start, middle: start + "/".join(middle),
    st.sampled_from(["", "", "", "/", f"{CANARY}/", "../../../../../../.."]),
    st.lists(parts, min_size=1, max_size=5) | st.lists(st.just("deep"), min_size=200, max_size=210),
)
programs = st.lists(st.builds(File, names, st.binary(max_size=9)), max_size=4)


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("canary")
    (directory / "a").write_bytes(b"untouched")
    return directory


def tree(top: Path) -> dict[bytes, bytes | None]:
    """Everything below a directory: files with their bytes, directories with None."""
    root = os.fsencode(top)
    found: dict[bytes, bytes | None] = {}
    for folder, directories, files in os.walk(root):
        for name in directories:
            found[os.path.relpath(os.path.join(folder, name), root)] = None
        for name in files:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, root)] = Path(os.fsdecode(path)).read_bytes()
    return found


def laid_out(files: list[File]) -> dict[bytes, bytes | None]:
    """What the tree of these files must be."""
    wanted: dict[bytes, bytes | None] = {}
    for file in files:
        *directories, _ = encoded(file.name).split(b"/")
        for end in range(1, len(directories) + 1):
            wanted[b"/".join(directories[:end])] = None
        wanted[encoded(file.name)] = file.content
    return wanted


@given(files=programs)
@example(files=[File("é", b"1"), File("\udcc3\udca9", b"2")])  # the same bytes on disk
@example(files=[File("a/b", b"1"), File("a", b"2")])
@example(files=[File("a", b"1"), File("A", b"2")])
def test_all_files_are_where_they_belong_or_none_is_written(
    canary: Path, files: list[File]
) -> None:
    files = [File(file.name.replace(CANARY, str(canary)), file.content) for file in files]
    with Workspace() as workspace:
        neighbours = os.listdir(workspace.path.parent)
        if error := refusal(InvalidProgram, lambda: workspace.add(files)):
            assert tree(workspace.path) == {}
            assert 0 < len(str(error)) < 10_000
        else:
            assert tree(workspace.path) == laid_out(files)
        assert os.listdir(workspace.path.parent) == neighbours
        assert tree(canary) == {b"a": b"untouched"}
    assert not workspace.path.exists()


@given(files=programs)
def test_what_is_checked_can_be_written(canary: Path, files: list[File]) -> None:
    files = [File(file.name.replace(CANARY, str(canary)), file.content) for file in files]
    if refusal(InvalidProgram, lambda: check_names(files)):
        return
    with Workspace() as workspace:
        workspace.add(files)
        assert tree(workspace.path) == laid_out(files)


anything: st.SearchStrategy[object] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.binary(),
    st.text(),
    st.lists(st.text()),
    st.just(bytearray(b"a")),
    st.just(Path("a")),
)


@given(name=anything, content=anything)
def test_what_is_no_file_is_refused(name: object, content: object) -> None:
    file = File(name, content)  # type: ignore[arg-type]
    if error := refusal(InvalidProgram, lambda: check_names([file])):
        assert str(error)
    else:
        assert isinstance(name, str)
        assert isinstance(content, bytes)

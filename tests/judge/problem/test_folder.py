"""Links, and what else a directory of strangers may hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coderunner.errors import InvalidInput
from coderunner.judge.problem import folder as module
from coderunner.judge.problem.folder import Folder
from coderunner.model import MIB
from tests.judge.problem.making import (
    ids,
    opened,
    package,
    program_files,
    read,
    submission,
    turned_away,
    write,
)

pytestmark = pytest.mark.unit


def test_links_inside_are_followed(tmp_path: Path) -> None:
    path = package(tmp_path / "x", {"submissions/accepted/a.py": "print(1)"})
    (path / "submissions" / "other").mkdir()
    (path / "submissions" / "other" / "b.py").symlink_to("../accepted/a.py")
    (path / "data" / "secret" / "2.in").symlink_to("1.in")
    (path / "data" / "secret" / "2.ans").symlink_to("1.ans")
    (path / "data" / "sample").symlink_to("secret")
    problem = opened(path)
    assert program_files(submission(problem, "other/b.py")) == ["b.py"]
    assert ids(problem) == ["sample/1", "sample/2", "secret/1", "secret/2"]


@pytest.mark.parametrize(
    "link",
    [
        "data/secret/1.in",
        "submissions/accepted/a.py",
        "problem.yaml",
        "include/python",
        "data/sample",
    ],
)
def test_links_that_lead_out_are_refused(tmp_path: Path, link: str) -> None:
    outside = write(tmp_path / "outside", {"1.in": "secret", "1.ans": ""})
    path = package(tmp_path / "x")
    place = path / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(outside if place.suffix == "" else outside / "1.in")
    with pytest.raises(InvalidInput) as caught:
        Folder(path).real(place)
    assert str(caught.value).endswith(": is a link that leads out of the directory")
    assert str(turned_away(path)) == str(caught.value)


def test_a_link_to_nothing(tmp_path: Path) -> None:
    path = package(tmp_path / "x")
    (path / "data" / "secret" / "2.in").symlink_to("3.in")
    (path / "data" / "secret" / "2.ans").symlink_to("1.ans")
    error = turned_away(path)
    assert str(error) == "x/data/secret/2.in: is a link that leads nowhere"


def test_links_in_a_circle(tmp_path: Path) -> None:
    path = package(tmp_path / "x")
    (path / "include").symlink_to("other")
    (path / "other").symlink_to("include")
    assert "x/include: cannot be read" in str(turned_away(path))


@pytest.mark.parametrize("place", ["data/secret", "include/python", "submissions/accepted/a"])
def test_a_link_back_up_has_an_end(tmp_path: Path, place: str) -> None:
    path = package(tmp_path / "x")
    (path / place).mkdir(parents=True, exist_ok=True)
    (path / place / "again").symlink_to(".")
    assert str(turned_away(path)) == f"x/{place}/again: is a link that leads back up"


def test_two_links_that_lead_to_each_other(tmp_path: Path) -> None:
    path = package(tmp_path / "x", {"data/secret/a/1.in": "", "data/secret/a/1.ans": ""})
    (path / "data/secret/b").mkdir()
    (path / "data/secret/a/l").symlink_to("../b")
    (path / "data/secret/b/m").symlink_to("../a")
    assert str(turned_away(path)).endswith("a/l/m: is a link that leads back up")


def test_directories_that_lie_too_deep(tmp_path: Path) -> None:
    path = package(tmp_path / "x", {"submissions/accepted/" + "d/" * 31 + "a.py": ""})
    assert str(turned_away(path)).endswith("d: lies too deep")


def test_links_that_multiply_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_ENTRIES", 500)
    path = package(tmp_path / "x")
    for level in range(10):
        folder = path / "include" / "python" / f"d{level}"
        folder.mkdir(parents=True)
        for one in range(10):
            (folder / f"l{one}").symlink_to(f"../d{level + 1}")
    (path / "include" / "python" / "d10").mkdir()
    assert "x: has more than 500 entries" in str(turned_away(path))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = package(tmp_path / "x", {"submissions/accepted/b.py": ""})
    os.mkfifo(path / "submissions" / "accepted" / "a.py")
    assert str(turned_away(path)) == "x/submissions/accepted/a.py: is no regular file"


def test_a_program_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "x", {"a": "x" * 11, "b": "x" * 11})
    with pytest.raises(InvalidInput, match="x/a: is larger than 0 MB"):
        Folder(path).read(path / "a", 10)
    monkeypatch.setattr(module, "_MOST_BYTES_IN_ALL", 20)
    with pytest.raises(InvalidInput, match="x: more than 0 MB of programs"):
        Folder(path).files(path)


@pytest.mark.parametrize("name", ["1.in", "1.ans"])
@pytest.mark.parametrize("kind", ["package", "plain"])
def test_a_test_that_is_too_large_is_not_read(tmp_path: Path, name: str, kind: str) -> None:
    place = tmp_path / "data" / "secret" if kind == "package" else tmp_path
    write(place, {"1.in": "", "1.ans": ""})
    os.truncate(place / name, 513 * MIB)  # of nothing: it takes no space
    assert f"{name}: is larger than 512 MB" in str(turned_away(tmp_path))


def test_what_tools_leave_behind_is_not_there(tmp_path: Path) -> None:
    files = {
        "submissions/accepted/.gitkeep": "",
        "submissions/accepted/__pycache__/a.pyc": "",
        "submissions/accepted/a/.a.py.swp": "",
        "submissions/accepted/a/a.py": "",
        "data/secret/.2.in": "",
        "data/secret/1.in": "",
        "data/secret/1.ans": "",
    }
    problem = read(tmp_path, files)
    assert ids(problem) == ["secret/1"]
    assert [(one.name, program_files(one)) for one in problem.submissions] == [
        ("accepted/a", ["a.py"])
    ]


def test_a_name_that_cannot_be_shown(tmp_path: Path) -> None:
    path = package(tmp_path / "x")
    with open(os.fsencode(path) + b"/data/secret/\x1b[31m\xff.in", "wb"):
        pass
    error = str(turned_away(path))
    assert error.startswith("x/data/secret: has a file with a name that nobody can read: '\\x1b")
    error.encode()

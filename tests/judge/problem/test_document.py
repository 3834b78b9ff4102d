"""YAML and JSON of strangers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from coderunner.errors import InvalidInput
from coderunner.judge.problem.document import Section, read_data, read_yaml
from coderunner.judge.problem.folder import Folder
from coderunner.model import MIB
from tests.judge.problem.making import write

pytestmark = pytest.mark.unit


def read(folder: Path, content: str | bytes, name: str = "a.yaml") -> object:
    place = Folder(write(folder / "x", {name: content}))
    return read_data(place, place / name)


def refused(folder: Path, content: str | bytes, name: str = "a.yaml") -> str:
    with pytest.raises(InvalidInput) as caught:
        read(folder, content, name)
    return str(caught.value)


def test_no_text_keeps_us_busy(tmp_path: Path) -> None:
    """Tried in as many ways as it has digits it would take minutes."""
    started = time.process_time()
    digits = "1" * 60_000
    assert read(tmp_path, f"a: {digits}x") == {"a": f"{digits}x"}
    assert time.process_time() - started < 10


def test_what_is_well_written(tmp_path: Path) -> None:
    assert read(tmp_path, "a: [1, 'two']") == {"a": [1, "two"]}
    assert read(tmp_path, "\ufeffa: 1") == {"a": 1}
    assert read(tmp_path, '{"a": 1.5}', "a.json") == {"a": 1.5}


LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefghij", "bcdefghijk", strict=True)
)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("a: [", "is no YAML: expected the node content"),
        ("a: b: c", "is no YAML: mapping values are not allowed here (line 1)"),
        ("a: !!python/object:os.system x", "is no YAML: could not determine a constructor"),
        ("a: 2024-13-45", "is no YAML: month must be in 1..12"),
        ("a: " + "9" * 5000, "is no YAML: Exceeds the limit"),
        ("{[a]: 1}", "is no YAML: found unhashable key"),
        ("[" * 5000, "is nested too deeply"),
        (b"a: \xff", "is not UTF-8"),
        (LAUGHS, "is no YAML: aliases are not supported, as *a"),
        ("a: &a [*a]", "is no YAML: aliases are not supported, as *a"),
        ("a: " + "x" * MIB, "is larger than 1 MB"),
    ],
)
def test_yaml_that_is_refused(tmp_path: Path, content: str | bytes, what: str) -> None:
    assert refused(tmp_path, content).startswith(f"x/a.yaml: {what}")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("{", "is no JSON: Expecting property name"),
        ("[NaN]", "is no JSON: NaN is no number"),
        ("[" * 100_000, "is nested too deeply"),
    ],
)
def test_json_that_is_refused(tmp_path: Path, content: str, what: str) -> None:
    assert refused(tmp_path, content, "a.json").startswith(f"x/a.json: {what}")


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    place = Folder(write(tmp_path, {"a.yaml": "# nothing\n"}))
    assert list(read_yaml(place, place / "a.yaml")) == []


def test_a_file_that_is_no_map(tmp_path: Path) -> None:
    place = Folder(write(tmp_path / "x", {"a.yaml": "- a\n"}))
    with pytest.raises(InvalidInput, match="must be a map of keys and values, not a list"):
        read_yaml(place, place / "a.yaml")


def test_words_are_a_list_or_a_text(tmp_path: Path) -> None:
    said = Section({"a": ["x y", 1, 0.5], "b": " x  y ", "c": None, "d": [[1]]}, "file")
    assert said.words("a") == ("x y", "1", "0.5")
    assert said.words("b") == ("x", "y")
    assert said.words("c") == said.words("nothing") == ()
    with pytest.raises(InvalidInput, match="file: d: must be a list of strings"):
        said.words("d")


def test_a_number_may_look_like_text_to_yaml() -> None:
    assert Section({"a": "1e-3"}, "file").number("a") == 0.001


def test_a_number_that_is_too_long_to_be_printed_is_no_text() -> None:
    with pytest.raises(InvalidInput, match="file: a: must be text, not a number"):
        Section({"a": 1 << 20_000}, "file").text("a")
    assert "?" in Section({1 << 20_000: "a"}, "file")


def test_flags() -> None:
    assert Section({"a": True}, "file").flag("a") is True
    with pytest.raises(InvalidInput, match="file: a: must be true or false, not 'yes'"):
        Section({"a": "yes"}, "file").flag("a")

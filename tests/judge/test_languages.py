"""Languages by the names that requests use, and the tables of them: all from the registry."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from coderunner.judge import (
    COMPILATION_COMMANDS,
    COMPILED_LANGUAGES,
    DEFAULT_IMAGES,
    EXECUTION_COMMANDS,
    LANGUAGE_EXTENSIONS,
    Language,
    get_execution_command,
    sanitize_code,
)
from coderunner.judge import language as module
from coderunner.language import Languages

pytestmark = pytest.mark.unit

SPECIFIED = ("python", "python3", "cpp", "c", "java", "javascript", "go", "rust")


def test_it_has_what_is_specified_and_all_that_is_built_in() -> None:
    values = {language.value for language in Language}
    assert values >= set(SPECIFIED)
    assert values == {language.name for language in Languages()} | {"python3"}
    assert all(language.name == language.value.upper() for language in Language)


@pytest.mark.parametrize(
    ("name", "language"),
    [("c++", Language.CPP), ("PY", Language.PYTHON), ("node", Language.JAVASCRIPT)],
)
def test_aliases(name: str, language: Language) -> None:
    assert Language(name) is language


@pytest.mark.parametrize("name", ["cobol", "", 5, None])
def test_what_is_no_language(name: object) -> None:
    with pytest.raises(ValueError, match="is not a valid Language"):
        Language(name)


def test_one_that_a_user_has_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "zig.toml").write_text(
        'name = "zig"\ntitle = "Zig"\nextensions = [".zig"]\nsource = "main.zig"\n'
        'run = ["{zig}", "{main}"]\nversion = ["{zig}"]\nhello = "x"\n'
        '[tools.zig]\nnames = ["zig"]\n'
    )
    monkeypatch.setenv("CODERUNNER_LANGUAGES_DIR", str(tmp_path))
    module.registry.cache_clear()
    try:
        zig = Language("zig")
        assert (zig.name, zig.value) == ("ZIG", "zig")
        assert Language("ZIG") is zig
        assert pickle.loads(pickle.dumps(zig)) is zig
        assert get_execution_command(zig, "x") == ["zig", "main.zig"]
    finally:
        module.registry.cache_clear()


def test_images() -> None:
    wanted = {
        "python": "python:3.11-slim", "python3": "python:3.11-slim", "cpp": "gcc:12", "c": "gcc:12",
        "java": "openjdk:17-slim", "javascript": "node:20-slim", "go": "golang:1.21-alpine",
        "rust": "rust:1.74-slim",
    }  # fmt: skip
    assert {name: DEFAULT_IMAGES[Language(name)] for name in wanted} == wanted
    assert all(DEFAULT_IMAGES.values())


def test_extensions() -> None:
    wanted = {"python": "py", "cpp": "cpp", "c": "c", "java": "java", "javascript": "js",
              "go": "go", "rust": "rs"}  # fmt: skip
    assert {name: LANGUAGE_EXTENSIONS[Language(name)] for name in wanted} == wanted


def test_compiled_languages() -> None:
    compiled = {Language(name) for name in ("cpp", "c", "java", "go", "rust")}
    assert compiled | {Language.TYPESCRIPT} == COMPILED_LANGUAGES
    assert set(COMPILATION_COMMANDS) == COMPILED_LANGUAGES
    assert COMPILATION_COMMANDS[Language.CPP][0] == "g++"
    assert "-O2" in COMPILATION_COMMANDS[Language.CPP]


def test_commands() -> None:
    assert EXECUTION_COMMANDS[Language.PYTHON] == ["python3", "main.py"]
    assert EXECUTION_COMMANDS[Language.CPP] == ["./program"]
    assert EXECUTION_COMMANDS[Language.JAVA][-1] == "{classname}"
    assert set(EXECUTION_COMMANDS) == set(Language)


def test_the_class_that_java_starts_is_in_its_code() -> None:
    code = "class Helper {}\npublic class Sum { public static void main(String[] a) {} }"
    command = get_execution_command(Language.JAVA, code)
    assert (command[0], command[-1]) == ("java", "Sum")
    assert get_execution_command(Language.PYTHON, "print(1)") == ["python3", "main.py"]


def test_a_table_is_always_the_same() -> None:
    from coderunner.judge import tables

    assert tables.DEFAULT_IMAGES is DEFAULT_IMAGES
    with pytest.raises(AttributeError, match="no attribute 'NONE'"):
        _ = tables.NONE


@pytest.mark.parametrize("code", ["import os", "eval('1')", "open('x', 'w')"])
def test_code_is_left_alone_but_for_nul(code: str) -> None:
    assert sanitize_code(code, Language.PYTHON) == code
    assert sanitize_code(f"\0{code}\0", Language.PYTHON) == code

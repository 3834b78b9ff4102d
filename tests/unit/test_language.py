"""Languages as data: the built-in ones, a user's own, and what is said about broken files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coderunner.errors import InvalidLanguageFile, UnknownLanguage
from coderunner.language import Languages, user_language_dir
from coderunner.model import Limits
from coderunner.placeholders import (
    UnknownPlaceholder,
    Value,
    expand,
    expand_env,
    file_values,
    limit_values,
    plain_path,
)

NAMES = [
    "bash", "c", "cpp", "go", "java", "javascript", "lua", "perl", "php", "python", "ruby", "rust",
    "typescript",
]  # fmt: skip

MINIMAL = """
name = "tiny"
title = "Tiny"
extensions = [".tiny"]
source = "main.tiny"
run = ["{sh}", "{main}", "{args}"]
version = ["{sh}", "--version"]
hello = "echo Hello from Tiny"
[tools.sh]
names = ["sh"]
"""


def write(directory: Path, text: str, name: str = "tiny.toml") -> Languages:
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(text)
    return Languages([directory])


# The built-in ones


def test_all_thirteen_sorted_by_name() -> None:
    assert [language.name for language in Languages()] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_is_complete(name: str) -> None:
    language = Languages().get(name)
    assert f"Hello from {language.title}" in language.hello
    assert language.image
    assert all(tool.apt for tool in language.tools)
    assert language.is_source(language.source)
    assert Languages().for_file(language.source) is not None


@pytest.mark.parametrize(
    ("asked", "name"),
    [("python3", "python"), ("PY", "python"), ("C++", "cpp"), (" Java ", "java"),
     ("js", "javascript"), ("node", "javascript"), ("ts", "typescript"), ("golang", "go"),
     ("rs", "rust"), ("sh", "bash")],
)  # fmt: skip
def test_names_and_aliases_in_any_case(asked: str, name: str) -> None:
    assert Languages().get(asked).name == name
    assert asked.strip() in Languages()


@pytest.mark.parametrize(
    ("file", "name"),
    [("a.py", "python"), ("dir.d/b.cpp", "cpp"), ("x.C", "cpp"), ("x.c", "c"), ("X.JAVA", "java"),
     ("m.mjs", "javascript"), ("m.cjs", "javascript"), ("a.b.rs", "rust")],
)  # fmt: skip
def test_for_file(file: str, name: str) -> None:
    assert Languages().for_file(file).name == name


@pytest.mark.parametrize(
    ("asked", "near"), [("pyhton", "python"), ("javscript", "javascript"), ("rusty", "rust")]
)
def test_an_unknown_name_gets_the_nearest(asked: str, near: str) -> None:
    with pytest.raises(UnknownLanguage, match=re.escape(repr(asked))) as caught:
        Languages().get(asked)
    assert near in caught.value.hint


@pytest.mark.parametrize("file", ["x.xyz", "Makefile", ""])
def test_an_unknown_extension_lists_the_languages(file: str) -> None:
    with pytest.raises(UnknownLanguage) as caught:
        Languages().for_file(file)
    assert "python" in caught.value.hint


# A user's own


def test_a_user_adds_a_language(tmp_path: Path) -> None:
    languages = write(tmp_path, MINIMAL)
    assert languages.get("TINY").origin == str(tmp_path / "tiny.toml")
    assert languages.for_file("x.tiny").name == "tiny"
    assert len(languages) == len(NAMES) + 1


def test_a_user_replaces_a_language_with_all_its_aliases(tmp_path: Path) -> None:
    languages = write(tmp_path, MINIMAL.replace('"tiny"', '"python"', 1))
    assert languages.get("python").title == "Tiny"
    assert "py" not in languages
    assert len(languages) == len(NAMES)


def test_a_users_language_wins_an_alias_and_an_extension(tmp_path: Path) -> None:
    text = MINIMAL.replace('[".tiny"]', '[".tiny", ".py"]') + '\n[env]\nA = "b"\n'
    languages = write(tmp_path, 'aliases = ["py"]\n' + text)
    assert languages.get("py").name == "tiny"
    assert languages.for_file("a.py").name == "tiny"
    assert languages.get("python3").name == "python"


def test_a_later_directory_wins(tmp_path: Path) -> None:
    write(tmp_path / "one", MINIMAL)
    write(tmp_path / "two", MINIMAL.replace('"Tiny"', '"Later"'))
    assert Languages([tmp_path / "one", tmp_path / "two"]).get("tiny").title == "Later"


@pytest.mark.parametrize("claim", [".tiny", "tiny"])
def test_two_claims_in_one_directory(tmp_path: Path, claim: str) -> None:
    write(tmp_path, MINIMAL)
    other = MINIMAL.replace('"tiny"', '"other"', 1)
    if claim == "tiny":
        other = 'aliases = ["tiny"]\n' + other.replace(".tiny", ".other")
    with pytest.raises(InvalidLanguageFile, match=re.escape(repr(claim))) as caught:
        write(tmp_path, other, "other.toml")
    assert "tiny.toml" in str(caught.value)
    assert "other.toml" in str(caught.value)


def test_a_directory_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert len(Languages([tmp_path / "none"])) == len(NAMES)


def test_other_files_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("not a language")
    assert len(Languages([tmp_path])) == len(NAMES)


def test_the_xdg_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert user_language_dir() == tmp_path / "coderunner" / "languages"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", "/some/home")
    assert user_language_dir() == Path("/some/home/.config/coderunner/languages")


# Broken files

BROKEN: dict[str, tuple[str, str, str]] = {
    # what it shows: (what to replace, with what, what the error says)
    "no name": ('name = "tiny"\n', "", "name: is missing"),
    "empty title": ('"Tiny"', '""', "title: must not be empty"),
    "bad name": ('name = "tiny"', 'name = "Tiny Lang"', "name: 'Tiny Lang' does not match"),
    "not a string": ('title = "Tiny"', "title = 3", "title: must be a string, not a number"),
    "not a list": ('["{sh}", "--version"]', '"sh -v"', "version: must be a list of strings"),
    "not a code": (
        "[tools.sh]",
        'memory_codes = ["1"]\n[tools.sh]',
        "memory_codes: must be a list",
    ),
    "no such code": ("[tools.sh]", "memory_codes = [256]\n[tools.sh]", "memory_codes: exit codes"),
    "list of numbers": ('[".tiny"]', "[1]", "extensions: must be a list of strings"),
    "empty run": ('["{sh}", "{main}", "{args}"]', "[]", "run: must not be empty"),
    "extension without dot": ('[".tiny"]', '["tiny"]', "extensions: 'tiny' does not match"),
    "source of another kind": ('"main.tiny"', '"main.c"', "source: must end in .tiny"),
    "source elsewhere": ('"main.tiny"', '"a/b.tiny"', "source: 'a/b.tiny' does not match"),
    "unknown placeholder": ("{main}", "{mian}", "run: unknown placeholder {mian}"),
    "unknown tool": ('["{sh}", "--', '["{zsh}", "--', "version: unknown placeholder {zsh}"),
    "args in version": ("--version", "{args}", "version: unknown placeholder {args}"),
    "list inside a word": ('"{args}"', '"x{args}"', "run: {args} stands for several words"),
    "compile without artifacts": ("run =", 'compile = ["{sh}"]\nrun =', "artifacts: is missing"),
    "reserved id": ("[tools.sh]", "[tools.main]", "tools.main: 'main' is the name of"),
    "odd id": ("[tools.sh]", "[tools.S-h]", "tools.S-h: 'S-h' must be lower-case"),
    "no tool names": ('names = ["sh"]', "", "tools.sh.names: is missing"),
    "tool not a table": (
        '[tools.sh]\nnames = ["sh"]',
        "[tools]\nsh = 1",
        "tools.sh: must be",
    ),
    "relative mount": ("run =", 'mounts = ["etc"]\nrun =', "mounts: 'etc' does not match"),
    "bad regex": (
        "run =",
        "version_pattern = '('\nrun =",
        "version_pattern: is not a valid",
    ),
    "unknown limit": (
        "[tools.sh]",
        "[compile_limits]\nmemory = 3\n[tools.sh]",
        "compile_limits.memory",
    ),
    "bad limit": (
        "[tools.sh]",
        "[compile_limits]\nmemory_mb = -3\n[tools.sh]",
        "compile_limits.memory_mb: memory_mb must be above zero",
    ),
    "list in env": ("[tools.sh]", '[env]\nA = "{sources}"\n[tools.sh]', "env: unknown placeholder"),
    "one id twice": ("[tools.sh]", '[scripts]\nsh = "x"\n[tools.sh]', "sh: a tool, script or"),
    "probe uses a later tool": (
        'names = ["sh"]',
        'names = ["sh"]\nprobe = ["{other}"]\n[tools.other]\nnames = ["x"]',
        "tools.sh.probe: unknown placeholder {other}",
    ),
    "entry without group": (
        "[tools.sh]",
        "[entry]\ntype = 'class'\npublic = 'p'\npackage = '(?P<name>x)'\n[tools.sh]",
        "entry.type: needs a group named 'name'",
    ),
    "file that leaves": (
        "[tools.sh]",
        '[[variant]]\nfiles = { "../x" = "" }\n[tools.sh]',
        "variant.0.files.../x: must be a relative path",
    ),
    "variant not an array": ("[tools.sh]", "[variant]\nif_file = 'x'\n[tools.sh]", "[[variant]]"),
    "relative target": (
        "[tools.sh]",
        '[prepare.x]\ntarget = "y"\nargv = ["{sh}"]\n[tools.sh]',
        "prepare.x.target: 'y' does not match",
    ),
    "not TOML": ('name = "tiny"', "name = tiny", "is not valid TOML"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_named_with_its_field(case: str, tmp_path: Path) -> None:
    old, new, said = BROKEN[case]
    assert old in MINIMAL
    with pytest.raises(InvalidLanguageFile) as caught:
        write(tmp_path, MINIMAL.replace(old, new, 1))
    assert str(caught.value).startswith(str(tmp_path / "tiny.toml"))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("key", "near"), [("alias", "aliases"), ("extension", "extensions"), ("compiel", "compile")]
)
def test_an_unknown_key_gets_the_nearest(key: str, near: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidLanguageFile, match=f"{key}: is not a known key") as caught:
        write(tmp_path, f'{key} = ["x"]\n{MINIMAL}')
    assert near in caught.value.hint


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(InvalidLanguageFile, match="is not UTF-8"):
        Languages([tmp_path])


# Placeholders


def test_expand() -> None:
    values: dict[str, Value] = {
        "cc": "/usr/bin/gcc",
        "sources": ("a.c", "b.c"),
        "memory_mb": "64",
        "args": (),
    }
    argv = ["{cc}", "-m={memory_mb}", "{sources}", "{}", "{1}", "{args}", "{cc}{cc}"]
    assert expand(argv, values) == (
        "/usr/bin/gcc", "-m=64", "a.c", "b.c", "{}", "{1}", "/usr/bin/gcc/usr/bin/gcc",
    )  # fmt: skip
    assert expand_env({"A": "x{memory_mb}"}, values) == {"A": "x64"}


def test_a_value_is_never_expanded_itself() -> None:
    assert expand(["{args}", "{main}"], {"args": ("{main}",), "main": "{args}"}) == (
        "{main}",
        "{args}",
    )


@pytest.mark.parametrize("word", ["{unknown}", "x{args}"])
def test_a_placeholder_without_a_value(word: str) -> None:
    with pytest.raises(UnknownPlaceholder):
        expand([word], {"args": ("a",)})


@pytest.mark.parametrize(
    ("name", "plain"),
    [("main.c", "main.c"), ("a/-x.c", "a/-x.c"), (".x.c", ".x.c"), ("é.c", "é.c"),
     ("-x.c", "./-x.c"), ("--help.c", "./--help.c"), ("@x.c", "./@x.c"), ("+x.sh", "./+x.sh"),
     ("inspect", "./inspect"), (" x.c", "./ x.c"), ("-/x.c", "./-/x.c"), ("\n-x.c", "./\n-x.c")],
)  # fmt: skip
def test_a_file_name_never_becomes_an_option(name: str, plain: str) -> None:
    assert plain_path(name) == plain


def test_file_values() -> None:
    values = file_values("a/main.go", ["a/main.go", "a/b.go", "c/d.go"], "X")
    assert values["main_stem"] == "a/main"
    assert values["main_dir"] == "./a"
    assert values["siblings"] == ("a/main.go", "a/b.go")
    assert file_values("-x.ts", ["-x.ts"], "")["main_stem"] == "./-x"
    assert file_values("x.go", ["x.go"], "")["main_dir"] == "."


def test_limit_values() -> None:
    values = limit_values(Limits(memory_mb=256, stack_mb=64, cpus=0.5))
    assert values["memory_mb"] == "256"
    assert values["soft_memory_mb"] == "230"
    assert values["thread_stack_mb"] == "16"
    assert values["cpus"] == "1"
    assert limit_values(Limits(memory_mb=1))["soft_memory_mb"] == "1"

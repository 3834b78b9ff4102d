"""`coderunner languages`, and what the command line says about itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coderunner import __version__
from coderunner.language import Languages
from tests.cli.console import as_json, coderunner, environment
from tests.support import require_sandbox, require_toolchain

pytestmark = pytest.mark.cli

NAMES = [language.name for language in Languages()]

ODD = """\
name = "odd"
title = "Odd"
extensions = [".odd"]
source = "main.odd"
run = ["{odd}", "{main}"]
version = ["{odd}", "--version"]
hello = "hello"

[tools.odd]
names = ["no-such-command-odd"]
apt = "odd-package"
"""


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment with a language of the user's own, whose toolchain is missing."""
    folder = tmp_path / "coderunner" / "languages"
    folder.mkdir(parents=True)
    (folder / "odd.toml").write_text(ODD)
    return environment(XDG_CONFIG_HOME=str(tmp_path))


def test_the_table_has_every_language(home: dict[str, str]) -> None:
    done = coderunner("languages", env=home)
    heading, *rows = done.stdout.decode().splitlines()
    assert (done.returncode, done.stderr) == (0, b"")
    assert heading.split() == ["LANGUAGE", "ALIASES", "FILES", "VERSION", "WHERE"]
    assert [row.split()[0] for row in rows] == sorted([*NAMES, "odd"])
    assert all(row == row.rstrip() for row in rows)


def test_a_missing_one_comes_with_the_way_to_get_it(home: dict[str, str]) -> None:
    done = coderunner("languages", env=home)
    row = next(row for row in done.stdout.decode().splitlines() if row.startswith("odd"))
    assert row.split(maxsplit=3)[2:] == ["missing", "apt-get install odd-package"]
    refused = coderunner("run", "-l", "odd", "-c", "x", env=home)
    assert refused.returncode == 3
    assert refused.stderr.splitlines()[1] == b"hint: apt-get install odd-package"


def test_details_of_one() -> None:
    require_toolchain("python")
    done = coderunner("languages", "PY")
    facts = dict(line.split(maxsplit=1) for line in done.stdout.decode().splitlines()[1:])
    assert facts["name"].split()[0] == "python"
    assert os.access(facts["python"], os.X_OK)
    assert facts["version"][0] == "3"


def test_details_of_all() -> None:
    text = coderunner("languages", "--all").stdout.decode()
    assert text.count("described in") == len(NAMES)


def test_json(home: dict[str, str]) -> None:
    found = as_json(coderunner("languages", "--json", env=home))["languages"]
    by_name = {language["name"]: language for language in found}
    assert sorted(by_name) == sorted([*NAMES, "odd"])
    odd = by_name["odd"]
    assert (odd["found"], odd["version"], odd["tools"]) == (False, None, {})
    assert odd["install"] == "apt-get install odd-package"
    for language in found:
        assert language["found"] is bool(language["version"])


def test_an_unknown_name() -> None:
    done = coderunner("languages", "pyhton")
    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[1].startswith("hint: did you mean python")


def test_version_and_help() -> None:
    assert coderunner("--version").stdout.decode() == f"coderunner {__version__}\n"
    for command in ("run", "languages", "doctor"):
        done = coderunner(command, "--help")
        assert done.returncode == 0
        assert f"coderunner {command}" in done.stdout.decode()
        assert f"  {command} " in coderunner("--help").stdout.decode()


def test_without_a_command_there_is_help() -> None:
    done = coderunner()
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"Usage: coderunner")


@pytest.mark.parametrize(
    ("words", "expected"),
    [("coderunner ru", "run"), ("coderunner run -l pyth", "python"),
     ("coderunner run --engine lin", "linux"), ("coderunner doctor --isolation sam", "sampled"),
     ("coderunner languages ty", "typescript")],
)  # fmt: skip
def test_shell_completion(words: str, expected: str) -> None:
    env = environment(
        _CODERUNNER_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(words.count(" "))
    )
    assert coderunner(env=env).stdout.decode().split() == [expected]


def test_a_bug_is_told_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import coderunner.survey\ncoderunner.survey.survey = None"
    )
    env = environment(PYTHONPATH=f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    done = coderunner("languages", env=env)
    assert done.returncode == 70
    assert done.stderr.startswith(b"error: TypeError: ")
    assert b"Traceback" not in done.stderr
    assert b"--debug" in done.stderr
    debugged = coderunner("languages", "--debug", env=env)
    assert debugged.returncode == 70
    assert b"Traceback" in debugged.stderr
    assert b"error: TypeError: " in debugged.stderr


@pytest.mark.parametrize(
    ("args", "code"),
    [(("languages", "pyhton"), 2), (("languages", "--bogus"), 2), (("run", "nothing.py"), 2),
     (("run", "-l", "python", "-c", "1", "--isolation", "vm"), 3)],
)  # fmt: skip
def test_an_error_that_is_expected_is_the_same_with_debug(args: tuple[str, ...], code: int) -> None:
    plain, debugged = coderunner(*args), coderunner(*args, "--debug")
    assert b"error: " in plain.stderr
    assert (debugged.returncode, debugged.stderr) == (plain.returncode, plain.stderr)
    by_variable = coderunner(*args, env=environment(CODERUNNER_DEBUG="1"))
    assert (by_variable.returncode, by_variable.stderr) == (code, plain.stderr)


PREPARED = """\
name = "prep"
title = "Prep"
extensions = [".prep"]
source = "main.prep"
run = ["{sh}", "-c", "cat {thing}/made"]
version = ["{sh}", "-c", "echo 1.0"]
hello = "hello"

[prepare.thing]
target = "/prepared/thing"
argv = ["{sh}", "-c", "echo ready > prepared/made; test -z '%s'"]
optional = true

[tools.sh]
names = ["sh"]
"""


@pytest.mark.parametrize("trouble", ["", "trouble"])
def test_making_ready_what_is_optional(tmp_path: Path, trouble: str) -> None:
    require_sandbox()
    folder = tmp_path / "languages"
    folder.mkdir()
    (folder / "prep.toml").write_text(PREPARED % trouble)
    env = environment(CODERUNNER_LANGUAGES_DIR=str(folder), CODERUNNER_CACHE_DIR=str(tmp_path))
    done = coderunner("languages", "prep", "--prepare", env=env)
    assert b"preparing Prep (thing), once" in done.stderr
    if trouble:
        assert (done.returncode, done.stdout) == (3, b"")
        assert b"error: Prep could not be prepared (thing)" in done.stderr
        return
    assert (done.returncode, done.stdout.split()[0]) == (0, b"Prep")
    assert coderunner("run", "-l", "prep", "-c", "", env=env).stdout == b"ready\n"
    assert coderunner("languages", "prep", "--prepare", env=env).stderr == b""

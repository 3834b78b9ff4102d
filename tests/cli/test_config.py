"""`coderunner config`, and `--config`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.console import as_json, coderunner, environment
from tests.support import require_sandbox, require_toolchain

pytestmark = pytest.mark.cli


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "coderunner" / "coderunner.toml"
    path.parent.mkdir()
    path.write_text('[docker]\nruntime = "runsc"\n[server]\ntokens = ["hush", "hush hush"]\n')
    return path


def test_every_setting_is_shown_with_where_it_comes_from(file: Path) -> None:
    env = environment(XDG_CONFIG_HOME=str(file.parent.parent), CODERUNNER_WARM="false")
    done = coderunner("config", "show", env=env)
    heading, *rows = done.stdout.decode().splitlines()
    assert (done.returncode, done.stderr) == (0, b"")
    assert heading.split() == ["KEY", "FROM", "VALUE"]
    shown = {row.split()[0]: row.split(maxsplit=1)[1] for row in rows}
    assert shown["engine"].split() == ["default", "auto"]
    assert shown["warm"].split() == ["environment", "CODERUNNER_WARM", "false"]
    assert shown["docker.runtime"].split() == [f"{file}:2", "runsc"]
    assert shown["server.tokens"].split() == [f"{file}:4", "********,********"]
    assert b"hush" not in done.stdout


def test_one_of_them_and_a_section(file: Path) -> None:
    done = coderunner("--config", str(file), "config", "show", "docker.runtime", "--json")
    assert as_json(done) == {
        "settings": [{"key": "docker.runtime", "value": "runsc", "from": f"{file}:2"}]
    }
    section = as_json(coderunner("config", "show", "judge", "--json"))["settings"]
    assert [each["key"].split(".")[0] for each in section] == ["judge"] * 6
    wrong = coderunner("config", "show", "docker.runtim")
    assert wrong.returncode == 2
    assert wrong.stderr.decode().splitlines() == [
        "error: no setting is called docker.runtim",
        "hint: did you mean docker.runtime?",
    ]


def test_which_files_are_looked_for(file: Path) -> None:
    done = coderunner("config", "path", env=environment(XDG_CONFIG_HOME=str(file.parent.parent)))
    rows = done.stdout.decode().splitlines()[1:]
    assert [row.split(maxsplit=1) for row in rows] == [
        [str(file)],
        [str(file.parent / "coderunner_config.yaml"), "not there"],
    ]


def test_every_command_refuses_a_mistyped_setting(file: Path) -> None:
    file.write_text("warmm = true\n")
    commands: list[list[str]] = [
        ["languages"],
        ["run", "-l", "python", "-c", "1"],
        ["config", "show"],
        ["doctor"],
    ]
    for command in commands:
        done = coderunner("--config", str(file), *command)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.decode().splitlines() == [
            f"error: {file}:1: no setting is called warmm",
            "hint: did you mean warm?",
        ]


def test_a_compiler_takes_the_command_that_a_file_says(tmp_path: Path) -> None:
    require_sandbox()
    require_toolchain("c")
    file = tmp_path / "coderunner_config.yaml"
    file.write_text(
        'languages: {c: {compile_command: ["gcc", "-DTOLD=42", "-o", "solution", "solution.c"]}}\n'
    )
    code = '#include <stdio.h>\nint main(void) { printf("%d", TOLD); }'
    done = coderunner("--config", str(file), "run", "-l", "c", "-c", code)
    assert (done.stdout, done.stderr) == (b"42", b"")

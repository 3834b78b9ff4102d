"""What of the host a sandbox may see for a toolchain's sake, and what it never may."""

from __future__ import annotations

from pathlib import Path

import pytest

from coderunner.exposure import to_show


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "homes" / "me"
    for name in (".local/lib", ".local/share/keyrings", ".ssh", ".venv/lib", "go", "bin"):
        (home / name).mkdir(parents=True)
    (home / ".pyenv/versions/3.11").mkdir(parents=True)
    (home / ".venv/pyvenv.cfg").touch()
    monkeypatch.setenv("HOME", str(home))
    return home


COMMANDS = [
    # a command in the home, and what is shown for it
    (".pyenv/versions/3.11/bin/python", [".pyenv/versions/3.11/bin/python"]),
    ("go/bin/go", ["go/bin/go"]),
    ("bin/tiny", ["bin/tiny"]),
    ("tiny", ["tiny"]),
    (".local/bin/python", [".local/bin/python", ".local/lib"]),
    (".venv/bin/python", [".venv/bin/python", ".venv/lib", ".venv/pyvenv.cfg"]),
    ("../bin/tiny", ["../bin/tiny"]),  # its prefix contains the home
]


@pytest.mark.parametrize(("command", "shown"), COMMANDS)
def test_a_command_in_a_home(home: Path, command: str, shown: list[str]) -> None:
    expected = [str((home / name).resolve()) for name in shown]
    assert to_show(str((home / command).resolve()), ()) == expected


@pytest.mark.parametrize(
    "prefix",
    ["/", "/opt", "/home", "/home/me", "/root", "/etc", "/var", "relative", "/no/such"],
)
def test_what_belongs_to_all_is_never_shown(home: Path, prefix: str) -> None:
    assert to_show(str(home / "go/bin/go"), (prefix,)) == [str(home / "go/bin/go")]


def test_a_prefix_that_a_probe_names_is_shown_whole(home: Path) -> None:
    assert to_show(str(home / "go/bin/go"), (str(home / "go"),)) == [str(home / "go")]


def test_a_project_around_a_command_is_not_shown(home: Path) -> None:
    for name in ("project/bin/lua", "scripts/lua"):
        (home / name).parent.mkdir(parents=True)
        (home / name).touch()
        assert to_show(str(home / name), ()) == [str(home / name)]
    (home / "project/lib").mkdir()
    (home / "project/.env").touch()
    expected = [str(home / "project/bin/lua"), str(home / "project/lib")]
    assert to_show(str(home / "project/bin/lua"), ()) == expected


def test_outside_of_homes_a_prefix_is_shown_whole(tmp_path: Path) -> None:
    command = tmp_path / "jdk/bin/java"
    command.parent.mkdir(parents=True)
    assert to_show(str(command), ()) == [str(tmp_path / "jdk")]


def test_a_link_to_a_home_is_not_shown_either(home: Path, tmp_path: Path) -> None:
    link = tmp_path / "sdk"
    link.symlink_to(home)
    assert to_show("/usr/bin/env", (str(link),)) == []


@pytest.mark.parametrize("command", ["/usr/bin/env", "/bin/sh", "/usr/local/go/bin/go"])
def test_what_is_in_every_box_needs_no_mount(command: str) -> None:
    assert to_show(command, ("/usr", "/usr/lib/go-1.19")) == []


def test_only_the_outermost_are_shown(home: Path) -> None:
    (home / "go/pkg").mkdir()
    named = (str(home / "go/pkg"), str(home / "go"))
    assert to_show(str(home / "go/bin/go"), named) == [str(home / "go")]

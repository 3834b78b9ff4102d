"""`scripts/toolchains.py` finds out what is missing and which package has it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coderunner.language import Languages
from scripts.toolchains import Missing
from tests.support import ROOT

pytestmark = pytest.mark.unit


def toolchains(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The script on a machine where nothing is on the PATH."""
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "toolchains.py", *arguments],
        env={"PATH": str(home), "HOME": str(home), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_tool_has_a_package() -> None:
    tools = [(language.name, tool) for language in Languages() for tool in language.tools]
    assert [(name, tool.id) for name, tool in tools if not tool.apt] == []


def test_packages_are_read_from_the_hint() -> None:
    hint = "apt-get install g++ libc6-dev; or from elsewhere"
    assert Missing("C++", "no compiler", hint).packages == ["g++", "libc6-dev"]
    assert Missing("COBOL", "no compiler", "ask a friend").packages == []


def test_missing_packages_are_listed_once(tmp_path: Path) -> None:
    packages = toolchains(tmp_path, "--packages").stdout.split()
    assert {"gcc", "ruby", "lua5.4", "bubblewrap"} <= set(packages)
    assert len(packages) == len(set(packages))


def test_what_cannot_be_installed_is_told_and_fails_in_ci(tmp_path: Path) -> None:
    told = toolchains(tmp_path)  # no apt-get on that PATH either
    assert told.returncode == 0
    assert "Ruby tests: Ruby needs ruby" in told.stderr
    assert "sudo apt-get install --no-install-recommends " in told.stderr
    assert toolchains(tmp_path, CI="true").returncode == 1


@pytest.mark.as_user
def test_an_ordinary_user_installs_nothing(tmp_path: Path) -> None:
    (tmp_path / "apt-get").symlink_to("/bin/false")
    told = toolchains(tmp_path)
    assert "installing" not in told.stderr
    assert os.geteuid() != 0

"""Finding toolchains: fake shims in temporary directories, and the real ones of this machine."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from coderunner import exposure
from coderunner.errors import ToolchainMissing
from coderunner.language import Language, Languages, Tool
from coderunner.toolchain import Toolchain, Toolchains
from coderunner.toolchain_cache import Cache, default_cache_file

LANGUAGES = [language.name for language in Languages()]


class Place:
    """A machine of our own: a home, a PATH, a cache file, and commands that are shell scripts."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.bin = root / "opt" / "tool" / "bin"
        self.cache = root / "cache" / "toolchains.json"
        self.asked = root / "asked"
        self.home = root / "home"
        for folder in (self.bin, self.home):
            folder.mkdir(parents=True)
        monkeypatch.setenv("PATH", f"{self.bin}:/usr/bin:/bin")
        monkeypatch.setenv("HOME", str(self.home))

    def command(self, path: Path | str, *lines: str) -> Path:
        """A script that notes that it was asked, and then does what the lines say."""
        file = self.bin / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(["#!/bin/sh", f"echo {file} >> {self.asked}", *lines, ""]))
        file.chmod(0o755)
        return file

    def find(self, language: Language, overrides: Mapping[str, str] | None = None) -> Toolchain:
        return asyncio.run(Toolchains(overrides, cache=Cache(self.cache)).find(language))

    @property
    def questions(self) -> int:
        return len(self.asked.read_text().splitlines()) if self.asked.exists() else 0


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


def tiny(*tools: Tool, mounts: tuple[str, ...] = ()) -> Language:
    return Language(
        name="tiny",
        title="Tiny",
        extensions=(".tiny",),
        source="main.tiny",
        run=("{tiny}", "{main}"),
        version=("{tiny}", "--version"),
        tools=tools or (Tool("tiny", ("tiny",)),),
        hello="",
        mounts=mounts,
    )


def sources(toolchain: Toolchain) -> list[str]:
    return [mount.target for mount in toolchain.mounts]


# Where tools are looked for


def test_on_path_with_its_prefix_and_version(place: Place) -> None:
    command = place.command("tiny", "echo tiny version 1.2.3-beta")
    found = place.find(tiny())
    assert found.tools == {"tiny": str(command)}
    assert found.version == "1.2.3-beta"
    assert sources(found) == [str(place.bin.parent)]
    assert found.path == (str(place.bin),)


def test_in_its_own_directories_the_newest_first(place: Place) -> None:
    for version in ("v9.1", "v20.3", "v20.11"):
        place.command(place.home / f".vm/{version}/bin/tiny", f"echo {version}")
    tool = Tool("tiny", ("tiny",), dirs=("~/.vm/*/bin",))
    assert place.find(tiny(tool)).version == "20.11"


def test_names_are_tried_in_order(place: Place) -> None:
    place.command("tiny", "echo 1.0")
    place.command("tiny5", "echo 5.0")
    assert place.find(tiny(Tool("tiny", ("tiny6", "tiny5", "tiny")))).version == "5.0"


def test_an_override_comes_first(place: Place) -> None:
    place.command("tiny", "echo 1.0")
    other = place.command(place.root / "other/bin/tiny", "echo 2.0")
    assert place.find(tiny(), {"tiny": str(other)}).version == "2.0"
    assert place.find(tiny(), {"tiny.tiny": str(other)}).version == "2.0"


def test_an_override_that_is_no_program(place: Place) -> None:
    with pytest.raises(ToolchainMissing, match="which is not a program"):
        place.find(tiny(), {"tiny": "/nowhere/tiny"})


@pytest.mark.parametrize("entry", ["", ".", "bin"])
def test_relative_path_entries_are_skipped(
    place: Place, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    place.command(place.root / "bin" / "tiny", "echo 1.0")
    place.command(place.root / "tiny", "echo 1.0")
    monkeypatch.chdir(place.root)
    monkeypatch.setenv("PATH", f"{entry}:/usr/bin:{entry}")
    with pytest.raises(ToolchainMissing):
        place.find(tiny())


def test_what_cannot_be_executed_is_skipped(place: Place) -> None:
    place.command("tiny", "echo 1.0").chmod(0o644)
    (place.bin / "tiny2").mkdir()
    with pytest.raises(ToolchainMissing):
        place.find(tiny(Tool("tiny", ("tiny", "tiny2"))))


def test_missing_tools_come_with_the_install_command(place: Place) -> None:
    tools = (
        Tool("tiny", ("no-such-1",), apt="tiny libtiny", hint="or https://tiny.example"),
        Tool("more", ("no-such-2", "no-such-3"), apt="more tiny"),
    )
    with pytest.raises(ToolchainMissing, match="no-such-1, no-such-2 or no-such-3") as caught:
        place.find(tiny(*tools))
    assert caught.value.hint == "apt-get install tiny libtiny more; or https://tiny.example"


def test_a_tool_that_fails_is_not_a_toolchain(place: Place) -> None:
    place.command("tiny", "echo no license >&2", "exit 3")
    with pytest.raises(ToolchainMissing, match="does not work: exit code 3: no license"):
        place.find(tiny())


def test_links_are_followed(place: Place) -> None:
    real = place.command(place.root / "real/bin/tiny-7", "echo 7.0")
    (place.bin / "tiny").symlink_to(real)
    assert place.find(tiny()).tools == {"tiny": str(real)}


def test_a_command_of_many_names_is_called_by_the_right_one(place: Place) -> None:
    busy = place.command(place.root / "real/bin/busybox", "echo $(basename $0) 1.0")
    (place.bin / "tiny").symlink_to(busy)
    assert place.find(tiny()).tools == {"tiny": str(place.bin / "tiny")}


def test_mounts_of_the_language_are_globs(place: Place) -> None:
    place.command("tiny", "echo 1.0")
    for name in ("tiny-1", "tiny-2", "other"):
        (place.root / "etc" / name).mkdir(parents=True)
    found = place.find(tiny(mounts=(f"{place.root}/etc/tiny-*",)))
    etc = place.root / "etc"
    assert sources(found) == [str(etc / "tiny-1"), str(etc / "tiny-2"), str(place.bin.parent)]


# Shims

PROBE = Tool("tiny", ("tiny",), probe=("{tiny}", "where"))


def test_a_shim_is_seen_through(place: Place) -> None:
    real = place.command(place.home / ".vm/versions/3/bin/tiny", "echo 3.0")
    extra = place.root / "extra"
    extra.mkdir()
    place.command("tiny", f"echo {real}", f"echo {extra}")
    found = place.find(tiny(PROBE))
    assert found.tools == {"tiny": str(real)}
    assert sources(found) == sorted([str(extra), str(real)])


def test_a_probe_may_name_a_prefix(place: Place) -> None:
    real = place.command(place.home / ".rust/stable/bin/tiny", "echo 3.0")
    place.command("tiny", f"echo {real.parent.parent}")
    assert place.find(tiny(PROBE)).tools == {"tiny": str(real)}


def test_a_probe_may_use_the_tools_above(place: Place) -> None:
    place.command("helper", f'echo "$1"; echo {place.root}/lib')
    place.command("tiny", "echo 4.0")
    tools = (
        Tool("helper", ("helper",)),
        Tool("tiny", ("tiny",), probe=("{helper}", "{tiny}")),
    )
    assert place.find(tiny(*tools)).version == "4.0"


def test_a_shim_that_leads_nowhere_is_passed_over(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.command(place.root / "shims/tiny", "echo tiny: command not found >&2", "exit 127")
    real = place.command("tiny", f"[ $1 = where ] && echo {place.bin}/tiny || echo 1.0")
    monkeypatch.setenv("PATH", f"{place.root}/shims:{place.bin}:/usr/bin")
    assert place.find(tiny(PROBE)).tools == {"tiny": str(real)}


@pytest.mark.parametrize("answer", ["", "tiny", "/nowhere/tiny", "/etc/passwd"])
def test_a_probe_without_a_usable_answer(place: Place, answer: str) -> None:
    place.command("tiny", f"echo '{answer}'")
    with pytest.raises(ToolchainMissing, match="which is not a program"):
        place.find(tiny(PROBE))


# The cache


def test_a_second_start_asks_nothing(place: Place) -> None:
    place.command("tiny", f"[ $1 = where ] && echo {place.bin}/tiny || echo 1.0")
    first = place.find(tiny(PROBE))
    assert place.questions == 2
    assert place.find(tiny(PROBE)) == first
    assert place.questions == 2


def test_within_a_process_nothing_is_asked_twice(place: Place) -> None:
    place.command("tiny", "echo 1.0")
    toolchains = Toolchains(cache=Cache(enabled=False))
    assert asyncio.run(toolchains.find(tiny())) is asyncio.run(toolchains.find(tiny()))
    assert place.questions == 1


def test_a_changed_tool_is_asked_again(place: Place) -> None:
    place.command("tiny", "echo 1.0")
    place.find(tiny())
    place.command("tiny", "echo 2.0 # a new version")
    assert place.find(tiny()).version == "2.0"


def test_a_changed_tool_behind_a_shim_is_asked_again(place: Place) -> None:
    real = place.command(place.root / "real/bin/tiny", "echo 1.0")
    place.command("tiny", f"echo {real}")
    place.find(tiny(PROBE))
    place.command(real, "echo 2.0 # a new version")
    assert place.find(tiny(PROBE)).version == "2.0"


def test_what_a_shim_looks_at_is_watched(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    one = place.command(place.root / "one/bin/tiny", "echo 1.0")
    two = place.command(place.root / "two/bin/tiny", "echo 2.0")
    choice = place.home / "choice"
    choice.write_text(str(one))
    place.command("tiny", f"echo ${{TINY:-$(cat {choice})}}")
    tool = Tool("tiny", ("tiny",), probe=("{tiny}",), watch=("$TINY", "~/choice"))
    assert place.find(tiny(tool)).version == "1.0"
    choice.write_text(str(two) + "\n")
    assert place.find(tiny(tool)).version == "2.0"
    monkeypatch.setenv("TINY", str(one))
    assert place.find(tiny(tool)).version == "1.0"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"format": 1}',
     b'{"format": 1, "entries": []}', b'{"format": 99, "entries": {}}'],
)  # fmt: skip
def test_a_corrupt_cache_is_ignored_and_replaced(place: Place, content: bytes) -> None:
    place.command("tiny", "echo 1.0")
    place.cache.parent.mkdir()
    place.cache.write_bytes(content)
    assert place.find(tiny()).version == "1.0"
    assert json.loads(place.cache.read_bytes())["entries"]


def test_a_cache_of_the_wrong_shape_is_ignored(place: Place) -> None:
    place.command("tiny", "echo 1.0")
    place.find(tiny())
    content = json.loads(place.cache.read_text())
    for key, value in {"version": 3, "tools": [], "shown": [1], "signatures": None}.items():
        bent = {k: {**entry, key: value} for k, entry in content["entries"].items()}
        place.cache.write_text(json.dumps({"format": 1, "entries": bent}))
        assert place.find(tiny()).version == "1.0"


@pytest.mark.parametrize("mode", [0o666, 0o620])
def test_a_cache_that_others_may_write_is_not_believed(place: Place, mode: int) -> None:
    place.command("tiny", "echo 1.0")
    place.find(tiny())
    place.cache.chmod(mode)
    place.find(tiny())
    assert place.questions == 2


def test_a_cache_behind_a_link_is_not_believed(place: Place) -> None:
    place.command("tiny", "echo 1.0")
    place.find(tiny())
    place.cache.rename(place.root / "elsewhere")
    place.cache.symlink_to(place.root / "elsewhere")
    place.find(tiny())
    assert place.questions == 2


def test_a_cache_that_cannot_be_written_is_no_error(place: Place) -> None:
    place.command("tiny", "echo 1.0")
    place.cache = Path("/proc/nowhere/toolchains.json")
    assert place.find(tiny()).version == "1.0"


def test_no_temporary_files_are_left(place: Place) -> None:
    place.command("tiny", "echo 1.0")
    place.find(tiny())
    assert [file.name for file in place.cache.parent.iterdir()] == ["toolchains.json"]
    assert place.cache.stat().st_mode & 0o777 == 0o600


def test_the_xdg_cache_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_file() == tmp_path / "coderunner" / "toolchains.json"


# The real ones


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_real_toolchain(name: str) -> None:
    language = Languages().get(name)
    try:
        found = asyncio.run(Toolchains(cache=Cache(enabled=False)).find(language))
    except ToolchainMissing as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"{missing}: {missing.hint}")
    assert found.version[0].isdigit()
    for command in found.tools.values():
        assert os.access(command, os.X_OK)
        shown = [*exposure.IN_EVERY_BOX, *sources(found)]
        assert any(exposure.is_inside(command, place) for place in shown)
    assert not {"/", os.path.expanduser("~"), "/root", "/home"} & set(sources(found))


def test_a_virtual_environment_keeps_its_packages(place: Place) -> None:
    venv.create(place.root / "env", symlinks=True)
    python = str(place.root / "env" / "bin" / "python3")
    found = place.find(Languages().get("python"), {"python": python})
    assert found.tools == {"python": python}
    assert str(place.root / "env") in sources(found)
    base = sys.base_prefix
    assert base.startswith("/usr") or any(exposure.is_inside(base, m) for m in sources(found))

"""What a compilation is kept under: it changes with everything that can change the result."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from coderunner.compile_cache import compile_key
from coderunner.model import File, Isolation, Job, Limits, Mount
from coderunner.toolchain import Toolchain
from coderunner.workspace import CollectedFile

pytestmark = pytest.mark.unit


@dataclass
class Compilation:
    """All that goes into a key."""

    folder: Path
    job: Job = field(init=False)
    toolchain: Toolchain = field(init=False)
    files: tuple[File, ...] = (File("main.c", b"int main;"), File("lib/a.h", b""))
    wanted: tuple[str, ...] = ("program",)
    engine: str = "linux"
    isolation: Isolation = Isolation.FULL

    def __post_init__(self) -> None:
        for name in ("cc", "packages"):
            (self.folder / name).write_text("one")
        (self.folder / "lib").mkdir()
        self.toolchain = Toolchain(
            "c", "12.2", {"cc": str(self.folder / "cc")}, (Mount(self.folder / "lib", "/lib/x"),)
        )
        self.job = Job(
            argv=("cc", "-O2", "main.c"),
            workspace=Path("/anywhere"),
            env={"LANG": "C"},
            mounts=(*self.toolchain.mounts, Mount(Path("/kept/headers-1"), "/prepared/headers")),
        )

    def key(self) -> str:
        return compile_key(
            self.job,
            self.files,
            self.wanted,
            self.toolchain,
            engine=self.engine,
            isolation=self.isolation,
            system=[str(self.folder / "packages"), str(self.folder / "absent")],
        )


def rewritten(path: Path) -> None:
    """The same size and time, as an upgrade that unpacks old files may leave it."""
    status = path.stat()
    path.unlink()
    path.write_text("two")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def upgrade_tool(it: Compilation) -> None:
    rewritten(it.folder / "cc")


def upgrade_packages(it: Compilation) -> None:
    rewritten(it.folder / "packages")


def install_packages(it: Compilation) -> None:
    (it.folder / "absent").touch()


def add_to_toolchain(it: Compilation) -> None:
    (it.folder / "lib" / "new.h").touch()


def another_version(it: Compilation) -> None:
    it.toolchain = replace(it.toolchain, version="12.3")


def another_place(it: Compilation) -> None:
    it.toolchain = replace(it.toolchain, tools={"cc": str(it.folder / "packages")})


def another_language(it: Compilation) -> None:
    it.toolchain = replace(it.toolchain, language="cpp")


def other_flags(it: Compilation) -> None:
    it.job = replace(it.job, argv=("cc", "-O3", "main.c"))


def other_words(it: Compilation) -> None:
    it.job = replace(it.job, argv=("cc", "-O2 main.c"))


def other_environment(it: Compilation) -> None:
    it.job = replace(it.job, env={"LANG": "de"})


def other_limits(it: Compilation) -> None:
    it.job = replace(it.job, limits=Limits(disk_mb=1))


def other_headers(it: Compilation) -> None:
    mounts = (*it.toolchain.mounts, Mount(Path("/kept/headers-2"), "/prepared/headers"))
    it.job = replace(it.job, mounts=mounts)


def without_headers(it: Compilation) -> None:
    it.job = replace(it.job, mounts=it.toolchain.mounts)


def writable_headers(it: Compilation) -> None:
    mounts = tuple(replace(mount, scratch=True) for mount in it.job.mounts)
    it.job = replace(it.job, mounts=mounts)


def other_content(it: Compilation) -> None:
    it.files = (File("main.c", b"int main2;"), it.files[1])


def other_name(it: Compilation) -> None:
    it.files = (it.files[0], File("lib/b.h", b""))


def executable(it: Compilation) -> None:
    it.files = (it.files[0], CollectedFile("lib/a.h", b"", executable=True))


def one_file_more(it: Compilation) -> None:
    it.files = (*it.files, File("data", b""))


def other_artifacts(it: Compilation) -> None:
    it.wanted = ("*",)


def other_engine(it: Compilation) -> None:
    it.engine = "process"


def other_walls(it: Compilation) -> None:
    it.isolation = Isolation.SAMPLED


CHANGES = [
    upgrade_tool, upgrade_packages, install_packages, add_to_toolchain, another_version,
    another_place, another_language, other_flags, other_words, other_environment, other_limits,
    other_headers, without_headers, writable_headers, other_content, other_name, executable,
    one_file_more, other_artifacts, other_engine, other_walls,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_it_changes_with(change: Callable[[Compilation], None], tmp_path: Path) -> None:
    compilation = Compilation(tmp_path)
    before = compilation.key()
    change(compilation)
    assert compilation.key() != before


def test_it_stays_the_same_wherever_the_workspace_lies(tmp_path: Path) -> None:
    compilation = Compilation(tmp_path)
    before = compilation.key()
    compilation.job = replace(compilation.job, workspace=Path("/elsewhere"))
    compilation.files = compilation.files[::-1]
    assert compilation.key() == before


Files = dict[str, bytes]
names = st.text(st.sampled_from("ab0 1\n"), min_size=1, max_size=4)
contents = st.binary(max_size=6) | st.text(st.sampled_from("ab0 1\n"), max_size=6).map(str.encode)
programs = st.dictionaries(names, contents, max_size=3)


@given(programs, programs)
def test_no_two_programs_share_one(one: Files, other: Files) -> None:
    assume(one != other)
    assert _key_of(one) != _key_of(other)


def _key_of(files: Files) -> str:
    return compile_key(
        Job(argv=("cc",), workspace=Path()),
        [File(name, content) for name, content in files.items()],
        (),
        Toolchain("c", "1", {}),
        engine="fake",
        isolation=Isolation.NONE,
        system=(),
    )

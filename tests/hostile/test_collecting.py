"""Files are collected from what a hostile program left: no more than was asked for."""

from __future__ import annotations

import pytest

from coderunner.model import MIB, File, Limits, Program
from tests.hostile.arena import Arena
from tests.hostile.attack import PROGRAMS, Attack

pytestmark = pytest.mark.hostile

# As many sparse files, each as large as a file may be.
SPARSE = b"""
for number in range(64):
    with open(f"sparse-{number}", "wb") as file:
        file.truncate(4 << 20)
open("the-last", "w").write("of them")
"""


async def test_sparse_files_are_capped_together(arena: Arena) -> None:
    program = Program("python", (File("main.py", SPARSE),))
    limits = Limits(disk_mb=4)
    result = await arena.run(program, limits=limits, collect=["sparse-*", "the-last"])
    assert result.ok, result.stderr
    assert sum(len(file.content) for file in result.files) <= limits.disk_mb * MIB


async def test_deep_directories(arena: Arena) -> None:
    attack = Attack.read(PROGRAMS / "resources/19_deep_directories.py")
    result = await arena.run(attack.program, limits=attack.limits, collect=["**"])
    assert result.ok, result.stderr
    assert [file.name for file in result.files] == ["main.py"]

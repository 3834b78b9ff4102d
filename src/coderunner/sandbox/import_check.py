"""Reads code's imports where that can do no harm.

Short code is read here, in well under a tenth of a second. What is long, nested deeply or written
for a newer Python is read in a box, like everything else of other people's: a parser can be made
to use a lot of time and memory.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection
from dataclasses import asdict
from importlib import resources

from coderunner.language import Language
from coderunner.model import File, Limits, Program
from coderunner.runner import Runner
from coderunner.sandbox.import_policy import ImportPolicy
from coderunner.sandbox.imports import Import, TooDeep, imports_of

_READ_HERE = 16_000  # bytes
_IN_A_BOX = Limits(wall_ms=10_000, memory_mb=1024, stack_mb=256, output_bytes=1_000_000)
_CODE = "code"
_PACKAGES = ("coderunner", "coderunner/sandbox")
_PARTS = ("imports.py", "origins.py", "texts.py")
_UNREADABLE = "import check: the code is too long or nested too deeply to be read: blocked"


async def objection(
    runner: Runner,
    policy: ImportPolicy,
    language: Language,
    source: bytes,
    files: Collection[str],
) -> str:
    """What is blocked, in words, or nothing."""
    if not policy.asks(language.imports):
        return ""
    imports = await _read(runner, language, source)
    return _UNREADABLE if imports is None else policy.objection(imports, files)


async def _read(runner: Runner, language: Language, source: bytes) -> list[Import] | None:
    """None: there was no reading it. Of what is no Python there are no imports: it will say so
    itself when it is run."""
    if len(source) <= _READ_HERE:
        try:
            found = imports_of(source)
        except TooDeep:
            return await _read_in_a_box(runner, language, source)
        if found is not None or not await _is_newer(runner, language):
            return found or []
    return await _read_in_a_box(runner, language, source)


async def _is_newer(runner: Runner, language: Language) -> bool:
    """Whether the Python that is to run it knows syntax that ours does not."""
    toolchain = await runner.toolchains.find(language)
    return tuple(map(int, toolchain.version.split(".")[:2])) > sys.version_info[:2]


async def _read_in_a_box(runner: Runner, language: Language, source: bytes) -> list[Import] | None:
    program = Program(language.name, (*_reader(language), File(_CODE, source)), (_CODE,))
    result = await runner.run(program, limits=_below(runner.settings.ceiling))
    if not result.ok:
        return None
    if result.stdout.strip() == "no code":
        return []
    found = [Import(*each) for each in ast.literal_eval(result.stdout)]
    return sorted(found, key=lambda each: each.line)


def _below(ceiling: Limits) -> Limits:
    """It is a limit of ours, so a lower ceiling is no error."""
    lower = {
        name: most
        for name, most in asdict(ceiling).items()
        if most is not None and (ours := getattr(_IN_A_BOX, name)) is not None and most < ours
    }
    return _IN_A_BOX.but(lower)


def _reader(language: Language) -> tuple[File, ...]:
    """The program that reads: the same modules, under the same names."""
    here = resources.files("coderunner.sandbox")
    driver = here.joinpath("inside", "read_imports.py").read_bytes()
    return (
        File(language.source, driver),
        *(File(f"{package}/__init__.py", b"") for package in _PACKAGES),
        *(File(f"coderunner/sandbox/{part}", here.joinpath(part).read_bytes()) for part in _PARTS),
    )

"""The files that a box needs to grade in.

They come with their bytecode, as an installed package does: compiling them would take longer than
most tests do. An interpreter of another version does not look at it and compiles them.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable
from functools import cache
from importlib import resources
from importlib.util import MAGIC_NUMBER, source_hash
from sys import implementation

from coderunner.model import File

_FOLDER = "_grading"
_UNCHECKED = (1).to_bytes(4, "little")  # by hash, and nobody needs to look whether it is the same


@cache
def harness(main: str, parts: tuple[str, ...]) -> tuple[File, ...]:
    """A program's main file, and the modules that it imports."""
    return (File("main.py", _source(main)), *(f for part in parts for f in _module(part)))


def _module(name: str) -> Iterable[File]:
    source = _source(name)
    code = compile(source, f"{_FOLDER}/{name}.py", "exec", dont_inherit=True)
    bytecode = MAGIC_NUMBER + _UNCHECKED + source_hash(source) + marshal.dumps(code)
    yield File(f"{_FOLDER}/{name}.py", source)
    yield File(f"{_FOLDER}/__pycache__/{name}.{implementation.cache_tag}.pyc", bytecode)


def _source(name: str) -> bytes:
    return resources.files("coderunner.grading.inside").joinpath(f"{name}.py").read_bytes()

"""Constants of a package: {{NAME}} in its programs stands for a value in problem.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from coderunner.judge.problem.document import Section
from coderunner.model import File

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_USED = re.compile(rb"\{\{([A-Za-z_][A-Za-z0-9_.]*)\}\}")


def read_constants(section: Section) -> dict[str, str]:
    """A value may be a map: of other ways to write it, by name, with `value` for the usual one."""
    constants: dict[str, str] = {}
    for name in section:
        if not _NAME.fullmatch(name):
            raise section.error(name, "is no name for a constant", hint="letters, digits and _")
        if not isinstance(section.get(name), dict):
            constants[name] = section.text(name)
            continue
        ways = section.section(name)
        for way in ways:
            constants[name if way == "value" else f"{name}.{way}"] = ways.text(way)
    return constants


def filled_in(files: Iterable[File], constants: Mapping[str, str]) -> tuple[File, ...]:
    """What names no constant stays as it is."""
    if not constants:
        return tuple(files)
    values = {name.encode(): value.encode() for name, value in constants.items()}

    def value_of(match: re.Match[bytes]) -> bytes:
        return values.get(match[1], match[0])

    return tuple(replace(file, content=_USED.sub(value_of, file.content)) for file in files)

"""problem.yaml: what a package says of itself, whatever the version of its format."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from coderunner.judge.checkers import program
from coderunner.judge.problem.document import Section, read_yaml
from coderunner.judge.problem.folder import Folder
from coderunner.judge.problem.icpc.constants import read_constants
from coderunner.judge.problem.icpc.time_limit import read_time_limit
from coderunner.judge.problem.model import TimeLimit
from coderunner.model import MIB, Limits
from coderunner.runner import COMPILE_LIMITS

FILE = "problem.yaml"
_LEGACY = ("legacy", "legacy-icpc")
_NEWER = ("2023-07-draft", "2023-07", "2025-09-draft", "2025-09")

_IN_PASSES = "multi-pass"
_TYPES = ("pass-fail", "scoring", "interactive", _IN_PASSES)
_NOT_SUPPORTED = ("submit-answer",)
_PASSES = 2  # if nothing is said
_MOST_PASSES = 1000
_MEMORY_MB, _OUTPUT_MB = 2048, 8  # what the format calls typical
_COMPILATION_MS, _COMPILATION_MB = 60_000, 2048
_PROCESSES = 64
_LARGEST = 500_000  # seconds or MiB
_KNOWN_LIMITS = (
    "time_limit",
    "time_multiplier",
    "time_multipliers",
    "time_resolution",
    "time_safety_margin",
    "memory",
    "output",
    "code",
    "compilation_time",
    "compilation_memory",
    "validation_time",
    "validation_memory",
    "validation_output",
    "validation_passes",
)


def case_limits(memory_mb: int = _MEMORY_MB, output_mb: int = _OUTPUT_MB) -> Limits:
    """The stack may grow as large as all the rest."""
    return Limits(
        memory_mb=memory_mb,
        stack_mb=memory_mb,
        processes=_PROCESSES,
        output_bytes=output_mb * MIB,
        flood_bytes=output_mb * MIB,
    )


@dataclass(frozen=True, slots=True)
class Metadata:
    legacy: bool
    name: str
    scoring: bool
    interactive: bool
    passes: int  # that the validator may ask for
    custom: bool | None  # a validator of its own? None: if there is one
    validator_flags: tuple[str, ...]
    time: TimeLimit
    limits: Limits  # of each case
    compile_limits: Limits | None
    validator_limits: Limits
    constants: Mapping[str, str]


def read_metadata(folder: Folder) -> Metadata:
    path = folder / FILE
    yaml = read_yaml(folder, path) if folder.has_file(path) else Section({}, folder.name(path))
    legacy = _is_legacy(yaml)
    types, validation = _types(yaml), _validation(yaml) if legacy else ()
    _refuse_minimizing(yaml)
    limits = yaml.section("limits")
    limits.no_misspelt(_KNOWN_LIMITS)
    return Metadata(
        legacy=legacy,
        name=_name(yaml) or folder.root.name,
        scoring="scoring" in types or "score" in validation,
        interactive="interactive" in (*types, *validation),
        passes=_passes(limits) if _IN_PASSES in (*types, *validation) else 1,
        custom=validation[0] == "custom" if validation else None,
        validator_flags=yaml.words("validator_flags") if legacy else (),
        time=read_time_limit(folder, limits, legacy=legacy),
        limits=case_limits(
            _whole(limits, "memory") or _MEMORY_MB, _whole(limits, "output") or _OUTPUT_MB
        ),
        compile_limits=_compile_limits(limits),
        validator_limits=_validator_limits(limits),
        constants=read_constants(yaml.section("constants")),
    )


def _is_legacy(yaml: Section) -> bool:
    version = yaml.text("problem_format_version", "legacy")
    if version not in (*_LEGACY, *_NEWER):
        raise yaml.error(
            "problem_format_version",
            f"{version!r:.40} is not a version that is known here",
            hint=", ".join((*_LEGACY, *_NEWER)),
        )
    return version in _LEGACY


def _refuse_minimizing(yaml: Section) -> None:
    if isinstance(yaml.get("grading"), dict):
        grading = yaml.section("grading")
        if grading.text("objective") == "min":
            raise grading.error("objective", "scores to be minimized are not supported")


def _name(yaml: Section) -> str:
    """In English, if there is a choice."""
    if not isinstance(yaml.get("name"), dict):
        return yaml.text("name")
    names = yaml.section("name")
    language = "en" if "en" in names else next(iter(names), "en")
    return names.text(language)


def _types(yaml: Section) -> tuple[str, ...]:
    types = yaml.words("type")
    for name in types:
        if name in _NOT_SUPPORTED:
            raise yaml.error("type", f"{name} problems are not supported")
        if name not in _TYPES:
            raise yaml.error("type", f"{name!r:.40} is no type of problem", hint=", ".join(_TYPES))
    if {"pass-fail", "scoring"} <= set(types):
        raise yaml.error("type", "is either pass-fail or scoring, not both")
    return types


def _validation(yaml: Section) -> tuple[str, ...]:
    words = yaml.words("validation") or ("default",)
    if words[0] not in ("default", "custom"):
        raise yaml.error("validation", "must begin with default or custom")
    for word in words[1:]:
        if words[0] == "default" or word not in ("interactive", "score", _IN_PASSES):
            hint = f"default, or custom followed by interactive, score or {_IN_PASSES}"
            raise yaml.error("validation", f"{word!r:.40} does not belong there", hint=hint)
    return words


def _passes(limits: Section) -> int:
    given = limits.number("validation_passes", least=2, most=_MOST_PASSES)
    return _PASSES if given is None else int(given)


def _compile_limits(limits: Section) -> Limits | None:
    seconds = _number(limits, "compilation_time")
    memory_mb = _whole(limits, "compilation_memory")
    if seconds is None and memory_mb is None:
        return None
    wall_ms = _COMPILATION_MS if seconds is None else math.ceil(seconds * 1000)
    return COMPILE_LIMITS.but({"wall_ms": wall_ms, "memory_mb": memory_mb or _COMPILATION_MB})


def _validator_limits(limits: Section) -> Limits:
    changes: dict[str, int] = {}
    if (seconds := _number(limits, "validation_time")) is not None:
        changes["wall_ms"] = math.ceil(seconds * 1000)
    if (memory_mb := _whole(limits, "validation_memory")) is not None:
        changes["memory_mb"] = memory_mb
    if (output_mb := _whole(limits, "validation_output")) is not None:
        changes["flood_bytes"] = output_mb * MIB
    return program.LIMITS.but(changes)


def _number(limits: Section, key: str) -> float | None:
    return limits.number(key, above=0, most=_LARGEST)


def _whole(limits: Section, key: str) -> int | None:
    value = _number(limits, key)
    return None if value is None else math.ceil(value)

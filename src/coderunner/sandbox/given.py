"""What a caller has given to a sandbox, checked: whoever has no type checker gives anything."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from coderunner.engines import AUTO, check_name
from coderunner.errors import InvalidInput, InvalidLimits
from coderunner.model import File, Isolation, Limits
from coderunner.recipe import check_args
from coderunner.settings import Settings
from coderunner.text import as_bytes
from coderunner.workspace import check_names

_WITHOUT_WALLS = "process"
_MOST_SECONDS = 10**9


def listed(given: Any) -> Any:
    """A list of our own, of what is many: a generator can be read only once, and theirs may
    change. Anything else stays what it is."""
    many = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    return list(given) if many else given


def limits_of(given: Limits | None, timeout: float, memory_mb: int, output_bytes: int) -> Limits:
    """A cut output is a head, and `Limits` keep a head and a tail of the same size."""
    given = Limits() if given is None else given
    if not isinstance(given, Limits):
        raise InvalidLimits(f"limits must be Limits, not {given!r:.80}", hint="limits=Limits(…)")
    check_seconds("timeout", timeout)
    if not _is_a(output_bytes, int) or output_bytes < 1:
        raise InvalidLimits(
            f"max_output_bytes must be a whole number above zero, not {output_bytes!r:.80}"
        )
    return given.but(
        {
            "wall_ms": math.ceil(timeout * 1000),
            "memory_mb": memory_mb,
            "output_bytes": 2 * output_bytes,
            "flood_bytes": max(given.flood_bytes, output_bytes),
        }
    )


def check_seconds(name: str, value: float) -> None:
    """Raise InvalidLimits for what is no time that anybody could wait."""
    if not _is_a(value, int, float):
        raise InvalidLimits(f"{name} must be a number of seconds, not {value!r:.80}")
    if not 0 < value < _MOST_SECONDS:
        raise InvalidLimits(f"{name} must be above zero, and no billion: not {value!r:.80}")


def _is_a(value: object, *kinds: type) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def filesystem_of(given: Mapping[str, str | bytes] | None) -> Mapping[str, str | bytes]:
    if given is not None and not isinstance(given, Mapping):
        raise InvalidInput(
            f"filesystem must be a dict of file names, not {given!r:.80}",
            hint='as in filesystem={"data.csv": "name,age\\n"}',
        )
    return MappingProxyType(dict(given or {}))


def files_of(filesystem: Mapping[str, str | bytes]) -> tuple[File, ...]:
    files = tuple(File(n, as_bytes(c, f"file {n!r:.80}")) for n, c in filesystem.items())
    if files:
        check_names(files)
    return files


def settings_of(engine: str, min_isolation: Isolation | str | None) -> Settings | None:
    """None: those of the environment. Naming an engine without walls in code is asking for it, but
    a bar that the environment sets is not lowered by that."""
    check_name(engine)
    if engine == AUTO and min_isolation is None:
        return None
    settings = Settings() if engine == AUTO else Settings(engine=engine)
    if min_isolation is not None:
        return settings.model_copy(update={"min_isolation": _isolation(min_isolation)})
    if engine == _WITHOUT_WALLS and "min_isolation" not in settings.model_fields_set:
        return settings.model_copy(update={"min_isolation": Isolation.NONE})
    return settings


def _isolation(name: Isolation | str) -> Isolation:
    try:
        return Isolation(name)
    except ValueError:
        known = ", ".join(Isolation)
        raise InvalidInput(
            f"no isolation is called {name!r:.80}", hint=f"there are {known}"
        ) from None


def words_of(args: Iterable[str]) -> tuple[str, ...]:
    words: list[str] = listed(args)
    check_args(words)
    return tuple(words)


def patterns_of(collect: Iterable[str]) -> tuple[str, ...]:
    patterns = [collect] if isinstance(collect, str) else listed(collect)
    if not isinstance(patterns, list) or not all(isinstance(each, str) for each in patterns):
        raise InvalidInput(
            f"collect must be patterns of file names, not {collect!r:.80}",
            hint='as in collect=["*.png", "out/**"]',
        )
    return tuple(patterns)

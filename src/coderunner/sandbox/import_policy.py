"""Which imports a sandbox lets code ask for.

A courtesy: it tells a learner, or a model, early and in plain words what is not to be used here.
It is no wall, since Python has a hundred ways to come by a module. The wall is the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from coderunner.errors import InvalidInput
from coderunner.sandbox.imports import Import, imports_of

BLOCKED_BY_DEFAULT = ("os", "subprocess", "shutil", "sys", "socket")

# The same things by the names that they have further down.
_ALSO = {"os": ("posix", "nt"), "subprocess": ("_posixsubprocess",), "socket": ("_socket",)}
_EVERYTHING = "*"
_ALWAYS = frozenset({"__future__"})

_READERS: dict[str, Callable[[str | bytes], list[Import]]] = {"python": imports_of}
"""By what a language file says in `imports`."""


@dataclass(frozen=True, slots=True)
class ImportPolicy:
    """`allowed`: these, what is below them, and the program's own files. None: all but the usual
    suspects. `"*"`: all."""

    allowed: frozenset[str] | None = None

    @classmethod
    def of(cls, allowed: Iterable[str] | None) -> ImportPolicy:
        if allowed is None:
            return cls()
        names = [allowed] if allowed == _EVERYTHING else allowed
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise InvalidInput(
                f"allowed_imports must be a list of module names, not {allowed!r:.80}",
                hint='as in allowed_imports=["math", "json"]; ["*"] allows all',
            )
        return cls(frozenset(names))

    def objection(self, reader: str, source: str | bytes, files: Collection[str] = ()) -> str:
        """What is blocked and where, or nothing. `reader` says how a language's imports are read;
        without one there is nothing to object to."""
        if reader not in _READERS:
            if self.allowed is None:
                return ""
            raise InvalidInput(
                "allowed_imports is for Python: imports of other languages cannot be checked",
                hint="leave it out; what a program may do is the engine's business",
            )
        if self.allowed is not None and _EVERYTHING in self.allowed:
            return ""
        own = {PurePosixPath(name).parts[0].removesuffix(".py") for name in files}
        blocked = (i for i in _READERS[reader](source) if not self._allows(i, own))
        return next((_in_words(found, self.allowed) for found in blocked), "")

    def _allows(self, found: Import, own: Collection[str]) -> bool:
        if found.module is None:
            return False
        if found.by_attribute:  # only what would be blocked as a module is known to be one
            return found.module.removeprefix("_") not in self._suspects()
        if found.module.partition(".")[0] in own or found.module in _ALWAYS:
            return True
        if self.allowed is None:
            return found.module.partition(".")[0] not in self._suspects()
        parts = found.module.split(".")
        return any(".".join(parts[:n]) in self.allowed for n in range(1, len(parts) + 1))

    def _suspects(self) -> set[str]:
        allowed = self.allowed or ()
        return {
            name
            for module in BLOCKED_BY_DEFAULT
            for name in (module, *_ALSO.get(module, ()))
            if module not in allowed and name not in allowed
        }


def _in_words(found: Import, allowed: Collection[str] | None) -> str:
    if found.module is None:
        return f"line {found.line}: import blocked: its name is only known when the program runs"
    usable = "" if allowed is None else f"; allowed: {', '.join(sorted(allowed)) or 'none'}"
    return f"line {found.line}: import of {found.module!r} is blocked{usable}"

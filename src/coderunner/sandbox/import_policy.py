"""Which imports a sandbox lets code ask for.

A courtesy: it tells a learner, or a model, early and in plain words what is not to be used here.
It is no wall, since Python has a hundred ways to come by a module. The wall is the engine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from coderunner.errors import InvalidInput
from coderunner.sandbox.imports import Import

BLOCKED_BY_DEFAULT = ("os", "subprocess", "shutil", "sys", "socket")

# The same things by the names that they have further down.
_ALSO = {"os": ("posix", "nt"), "subprocess": ("_posixsubprocess",), "socket": ("_socket",)}
_EVERYTHING = "*"
_ALWAYS = frozenset({"__future__"})
_MODULES = (".py", ".pyc", ".so")

READER = "python"
"""What a language file says in `imports` if they are read as Python has them."""


@dataclass(frozen=True, slots=True)
class ImportPolicy:
    """`allowed`: these, what is below them, and the program's own files. None: all but the usual
    suspects. `"*"`: all."""

    allowed: frozenset[str] | None = None

    @classmethod
    def of(cls, allowed: Iterable[str] | None) -> ImportPolicy:
        if allowed is None:
            return cls()
        listed = not isinstance(allowed, str | bytes) and isinstance(allowed, Iterable)
        names = [allowed] if allowed == _EVERYTHING else list(allowed) if listed else [None]
        if not all(isinstance(name, str) and _is_module(name) for name in names):
            raise InvalidInput(
                f"allowed_imports must be a list of module names, not {allowed!r:.80}",
                hint='as in allowed_imports=["math", "json"]; ["*"] allows all',
            )
        return cls(frozenset(str(name) for name in names))

    def asks(self, reader: str) -> bool:
        """Whether imports matter at all. `reader` says how a language's are read."""
        if reader != READER:
            if self.allowed is None:
                return False
            raise InvalidInput(
                "allowed_imports is for Python: imports of other languages cannot be checked",
                hint="leave it out; what a program may do is the engine's business",
            )
        return self.allowed is None or _EVERYTHING not in self.allowed

    def objection(self, imports: Iterable[Import], files: Iterable[str] = ()) -> str:
        """What is blocked and where, or nothing. `files` lie beside the program."""
        own = _modules_among(files) - self._suspects()
        blocked = (each for each in imports if not self._allows(each, own))
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


def _is_module(name: str) -> bool:
    return name == _EVERYTHING or all(part.isidentifier() for part in name.split("."))


def _modules_among(files: Iterable[str]) -> set[str]:
    """Those that can be imported: a folder of data is none."""
    paths = [PurePosixPath(name) for name in files]
    return {path.parts[0].partition(".")[0] for path in paths if path.suffix in _MODULES}


def _in_words(found: Import, allowed: Collection[str] | None) -> str:
    if found.module is None:
        return f"line {found.line}: import blocked: its name is only known when the program runs"
    usable = "" if allowed is None else f"; allowed: {', '.join(sorted(allowed)) or 'none'}"
    return f"line {found.line}: import of {found.module!r} is blocked{usable}"

"""What importing a module does, noted while it is done: so that it can be repeated in part.

Imports nothing that an interpreter has not loaded at its start. What we need is to be imported like
everything else, under the eyes of a recorder.
"""

from __future__ import annotations

import _warnings
import atexit
import builtins
import sys

TYPE_CHECKING = False  # `typing` would be imported unseen
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

# The import system itself: always loaded.
bootstrap: Any = sys.modules["_frozen_importlib"]
_warnings_state: Any = _warnings

IMPORTED = object()  # and not put there by hand


_ABSENT = object()


class Trace:
    """What loading one module did beside making that module."""

    def __init__(self, spec: Any = None) -> None:
        self.spec = spec  # by which it was loaded
        # In order: what it imported, and what it put into `sys.modules` with its own hands.
        self.arrivals: dict[str, Any] = {}
        self.changes: list[_Change] = []
        self.at_exit: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []
        self.filters: list[Any] = []  # of warnings

    @property
    def placed(self) -> dict[str, Any]:
        return {name: it for name, it in self.arrivals.items() if it is not IMPORTED}

    def undo(self) -> None:
        """What would be seen by those who did not import it."""
        for change in self.changes:
            change.undo()

    def repeat(self) -> None:
        """All of it, but for the arrivals."""
        for change in self.changes:
            change.repeat()
        for callback, args, keywords in self.at_exit:
            atexit.register(callback, *args, **keywords)
        if self.filters:
            _warnings_state.filters[:0] = self.filters
            _filters_changed()


class _Change:
    """A name in another module."""

    def __init__(self, namespace: dict[str, Any], name: str, before: Any) -> None:
        self.namespace = namespace
        self._name = name
        self._before = before
        self._after = namespace.get(name, _ABSENT)

    def undo(self) -> None:
        self._put(self._before)

    def repeat(self) -> None:
        self._put(self._after)

    def _put(self, value: Any) -> None:
        if value is _ABSENT:
            self.namespace.pop(self._name, None)
        else:
            self.namespace[self._name] = value


class _Namespaces:
    """Those of the modules that every program has."""

    def __init__(self, modules: dict[str, ModuleType]) -> None:
        self._all = {name: vars(module) for name, module in modules.items()}
        self._before = {name: dict(space) for name, space in self._all.items()}

    def changes(self) -> list[_Change]:
        """Since the last time."""
        found = []
        for module, space in self._all.items():
            before = self._before[module]
            if len(space) != len(before) or any(
                before.get(n, _ABSENT) is not space[n] for n in space
            ):
                found += [
                    _Change(space, name, before.get(name, _ABSENT))
                    for name in {**before, **space}
                    if space.get(name, _ABSENT) is not before.get(name, _ABSENT)
                    and f"{module}.{name}" not in sys.modules  # the import system's doing
                ]
                self._before[module] = dict(space)
        return found


def _filters_changed() -> None:
    names = ("_filters_mutated_lock_held", "_filters_mutated")  # by version
    notify = next(getattr(_warnings, name) for name in names if hasattr(_warnings, name))
    notify()


class Recorder:
    """While it is entered, `traces` grows with every module that is loaded."""

    def __init__(self, base: dict[str, ModuleType]) -> None:
        self.traces: dict[str, Trace] = {}
        self.missing: set[str] = set()  # what was asked for and is not there
        self._loading: list[Trace] = [Trace()]  # the innermost last; the first is for nobody
        self._seen = set(sys.modules)
        self._base = base

    def __enter__(self) -> Recorder:
        self._replaced: list[tuple[Any, str, Any]] = []
        self._replace(builtins, "__import__", self._import)
        self._replace(bootstrap, "_gcd_import", self._gcd_import)  # importlib.import_module
        self._replace(bootstrap, "_load_unlocked", self._load)
        self._replace(atexit, "register", self._register)
        self._namespaces = _Namespaces(self._base)
        return self

    def __exit__(self, *exc_info: object) -> None:
        for owner, name, original in self._replaced:
            setattr(owner, name, original)

    def _replace(self, owner: Any, name: str, ours: Any) -> None:
        original = getattr(owner, name)
        self._replaced.append((owner, name, original))

        def recorded(*args: Any, **keywords: Any) -> Any:
            return ours(original, *args, **keywords)

        setattr(owner, name, recorded)

    def _load(self, original: Any, spec: Any) -> ModuleType:
        self._note_placed()
        trace = self.traces[spec.name] = Trace(spec)
        self._seen.add(spec.name)
        self._loading.append(trace)
        filters = list(_warnings_state.filters)
        try:
            module: ModuleType = original(spec)
            return module
        finally:
            self._note_placed()
            self._loading.pop()
            trace.changes = self._namespaces.changes()
            if _warnings_state.filters != filters:
                trace.filters = [new for new in _warnings_state.filters if new not in filters]
                _warnings_state.filters[:] = filters
                _filters_changed()

    def _note_placed(self) -> None:
        for name, module in sys.modules.items():
            if name not in self._seen:
                self._seen.add(name)
                self._loading[-1].arrivals[name] = module

    def _note(self, name: str) -> None:
        self._note_placed()
        self._loading[-1].arrivals.setdefault(name, IMPORTED)

    def _import(
        self,
        original: Any,
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> ModuleType:
        try:
            module: ModuleType = original(name, globals, locals, fromlist, level)
        except ImportError as error:
            self.missing.add(error.name or name)
            raise
        package = bootstrap._calc___package__(globals) if level else ""
        absolute = bootstrap._resolve_name(name, package, level) if level else name
        self._note(absolute)
        for part in fromlist or ():
            if f"{absolute}.{part}" in sys.modules:
                self._note(f"{absolute}.{part}")
        return module

    def _gcd_import(self, original: Any, name: str, package: Any = None, level: int = 0) -> Any:
        module = original(name, package, level)
        absolute = bootstrap._resolve_name(name, package, level) if level else name
        self._note(absolute)
        return module

    def _register(self, original: Any, callback: Any, *args: Any, **keywords: Any) -> Any:
        self._loading[-1].at_exit.append((callback, args, keywords))
        return callback

"""Modules imported ahead, and hidden until a program imports them itself.

To a program nothing is imported that it did not ask for: `sys.modules` is what it is at a cold
start, `import xml` does not bring `xml.etree`, and a module's own imports come with it in the
order in which they came the first time. Only the time is saved.

See `recorder.py` for why so little is imported here.
"""

from __future__ import annotations

import os
import sys

from .fresh import is_renewed, renew
from .recorder import IMPORTED, Recorder, Trace, bootstrap
from .trial import well_behaved

TYPE_CHECKING = False  # see `recorder.py`
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType
    from typing import Any

CHANNEL = 3  # the descriptor that an interpreter is started with; the first packet names modules

_external: Any = sys.modules["_frozen_importlib_external"]
_NOTHING = Trace()


class Preloaded:
    def __init__(self, base: dict[str, ModuleType], finders: dict[str, Any]) -> None:
        self.base = base  # what a cold start has
        self._finders = finders  # the same
        self.all: dict[str, Any] = {}  # what we have loaded beyond that
        self.failed: list[str] = []
        self._hidden: dict[str, Any] = {}
        self._traces: dict[str, Trace] = {}
        self._children: dict[str, dict[str, Any]] = {}  # of each package
        self._taken: frozenset[str] = frozenset()  # names that a program had better not use
        self._to_renew: dict[str, ModuleType] = {}
        self._surroundings = _Surroundings()

    def load(self) -> None:
        """Import what we are told to, and then what we need. In this order, and both recorded: so
        a program cannot tell what is on the second list, too."""
        names = os.read(CHANNEL, 1 << 16).decode().split()
        allowed = well_behaved(names)
        recorder = Recorder(self.base)
        with recorder:
            for name in allowed:
                try:
                    __import__(name)
                except BaseException:  # whatever it is, a program will find out for itself
                    self.failed.append(name)
            from . import server
        self.server = server
        ours = __name__.partition(".")[0]
        self.failed += [name for name in names if name not in allowed]
        self.all = {
            name: module
            for name, module in sys.modules.items()
            if name not in self.base and name.partition(".")[0] != ours
        }
        self._traces = recorder.traces
        self._note_children()
        placed = {name for trace in self._traces.values() for name in trace.placed}
        self._hidden = {name: it for name, it in self.all.items() if name not in placed}
        asked_for = (*self._hidden, *recorder.missing)
        self._taken = frozenset(name.partition(".")[0] for name in asked_for)
        self._to_renew = {name: it for name, it in self.base.items() if is_renewed(name)}

    def _note_children(self) -> None:
        """What a package calls its submodules in the end: not always by their own name."""
        for name in self.all:
            parent, _, child = name.rpartition(".")
            package = self.all.get(parent) or self.base.get(parent)
            if package is not None and child in vars(package):
                self._children.setdefault(parent, {})[child] = vars(package)[child]

    def hide(self) -> None:
        """Leave only what a cold start has. What we imported ourselves is forgotten."""
        sys.modules.clear()
        sys.modules.update(self.base)
        for parent, children in self._children.items():
            namespace = vars(self.all.get(parent) or self.base[parent])
            for child in children:
                if namespace.get(child) is self.all[f"{parent}.{child}"]:
                    del namespace[child]
        for trace in reversed(self._traces.values()):
            trace.undo()
        sys.path_importer_cache.clear()
        sys.path_importer_cache.update(self._finders)
        self._stand_before_the_finders()

    def renew(self) -> None:
        """What a cold start makes anew."""
        for name, module in self._to_renew.items():
            renew(name, module)

    def is_changed_by_others(self, module: ModuleType) -> bool:
        """When they are imported."""
        changes = (change for trace in self._traces.values() for change in trace.changes)
        return any(change.namespace is vars(module) for change in changes)

    def let_go(self) -> None:
        """Of modules, above all of `__main__`: each is to end as if we did not know it."""
        self.base.clear()
        self.all.clear()

    def withdraw_if_shadowed(self, names: set[str]) -> None:
        """If a program brings a module of the same name, nothing of ours can be right: others
        would have imported that one."""
        if not self._taken.isdisjoint(names):
            self._hidden.clear()

    def _stand_before_the_finders(self) -> None:
        """The import system asks its finders for a module; the one for built-in modules is among
        the first. That one answers for us, so that no frame of ours is around when others, perhaps
        the program's own, are asked, or when a module is run."""
        importer = bootstrap.BuiltinImporter
        find = importer.find_spec

        def find_spec(cls: Any, fullname: str, path: Any = None, target: Any = None) -> Any:
            if fullname in self._hidden and target is None and _is_importing(sys._getframe(1)):
                spec = self._spec(fullname)
                if self._surroundings.still_lead_to(fullname, spec, path):
                    module = self._hidden.pop(fullname)  # if it is imported again, then really
                    return bootstrap.ModuleSpec(fullname, _Revealing(self, spec, module))
                self._hidden.clear()  # this one is not ours any more, so others cannot be
            return find(fullname, path, target)

        find_spec.__qualname__ = "BuiltinImporter.find_spec"
        find_spec.__module__ = importer.__module__
        importer.find_spec = classmethod(find_spec)

    def _spec(self, name: str) -> Any:
        trace = self._traces.get(name)
        return trace.spec if trace is not None else self._hidden[name].__spec__

    def reveal(self, name: str, module: ModuleType) -> None:
        """All that importing it would have done, but for running it."""
        trace = self._traces.get(name, _NOTHING)
        for arrived, what in trace.arrivals.items():
            if what is not IMPORTED:
                sys.modules[arrived] = what
            elif arrived in self._hidden or arrived not in sys.modules:
                _import_again(arrived)
        for child, value in self._children.get(name, {}).items():
            if f"{name}.{child}" in sys.modules:
                setattr(module, child, value)
        trace.repeat()
        renew(name, module)


def _is_importing(caller: Any) -> bool:
    """Whether somebody imports a module, and does not only ask where it would be."""
    return (
        caller.f_code is bootstrap._find_spec.__code__
        and caller.f_back is not None
        and caller.f_back.f_code is bootstrap._find_and_load_unlocked.__code__
    )


def _import_again(name: str) -> None:
    try:  # noqa: SIM105 - `contextlib` would be imported unseen
        bootstrap._gcd_import(name)
    except ImportError:
        pass  # the program has taken it away; who imported it then has it still


class _Surroundings:
    """The import system as it was when we imported. If the program has changed it, a name may lead
    to another module now."""

    def __init__(self) -> None:
        self._meta_path = list(sys.meta_path)
        self._path_hooks = list(sys.path_hooks)
        self._path = list(sys.path)

    def still_lead_to(self, name: str, spec: Any, path: Any) -> bool:
        if sys.meta_path != self._meta_path or sys.path_hooks != self._path_hooks:
            return False
        if spec.origin in ("built-in", "frozen"):
            return True
        entries = sys.path if path is None else list(path)
        if path is None and [entry for entry in entries if entry in self._path] != self._path:
            return _same(spec, _external.PathFinder.find_spec(name, path))
        return self._is_found_first(name, spec, entries)

    def _is_found_first(self, name: str, spec: Any, entries: Iterable[str]) -> bool:
        """Go through the entries as the import system does, which leaves its finders in
        `sys.path_importer_cache`, but only those are asked that may have changed."""
        home = _home(spec)
        for entry in entries:
            finder = _external.PathFinder._path_importer_cache(entry)
            if entry == home:
                return True
            if entry not in self._path and finder is not None:
                found = finder.find_spec(name)
                if found is not None and found.loader is not None:
                    return False
        return False


def _home(spec: Any) -> str:
    """The entry of a path at which a module was found."""
    parts = 1 if spec.submodule_search_locations is None else 2
    return str(spec.origin or "").rsplit("/", parts)[0]


def _same(spec: Any, found: Any) -> bool:
    return found is not None and found.origin is not None and found.origin == spec.origin


class _Revealing:
    """A loader that has loaded already."""

    def __init__(self, preloaded: Preloaded, spec: Any, module: Any) -> None:
        self._preloaded = preloaded
        self._spec = spec
        self._module = module
        # Some put another object in their place, which is nobody's business but theirs.
        self._is_itself = getattr(module, "__spec__", None) is spec

    def create_module(self, spec: Any) -> Any:
        return self._module if self._is_itself else None

    def exec_module(self, module: Any) -> None:
        if self._is_itself:
            module.__spec__ = self._spec
        else:
            sys.modules[self._spec.name] = self._module
        self._preloaded.reveal(self._spec.name, self._module)

"""Modules imported ahead, and hidden until a program imports them itself.

To a program nothing is imported that it did not ask for: `sys.modules` is what it is at a cold
start, `import xml` does not bring `xml.etree`, and a module's own imports come with it in the
order in which they came the first time. Only the time is saved.
"""

from __future__ import annotations

import atexit
import builtins
import os
import sys
import time

import _warnings

# The import system's own module, as it is known to the interpreter: always loaded.
_bootstrap: Any = sys.modules["_frozen_importlib"]


CHANNEL = 3  # the descriptor that an interpreter is started with; the first packet names modules


_NEEDED_TO_THE_END = ("sys", "builtins", "__main__")


class Preloaded:
    def __init__(self, base: dict[str, ModuleType]) -> None:
        self.failed: list[str] = []
        self._base = base
        self._meta_path = list(sys.meta_path)
        self._path: list[str] = []
        self._modules: dict[str, ModuleType] = {}
        self._all: dict[str, ModuleType] = {}
        self._imports: dict[str, dict[str, None]] = {}  # what each imports, in order
        self._children: dict[str, dict[str, Any]] = {}  # of each package
        self._at_exit: dict[str, list[tuple[Any, ...]]] = {}
        self._filters: dict[str, list[Any]] = {}  # of warnings
        self._find = _bootstrap._find_spec

    def load(self) -> None:
        """Import what we are told to, and note what each of these imports."""
        names = os.read(CHANNEL, 1 << 16).decode().split()
        before = set(sys.modules)
        self._path = sys.path[1:]
        with _Recorder(self._imports, self._at_exit):
            for name in names:
                self._load(name)
        self._modules = {n: m for n, m in sys.modules.items() if n not in before}
        self._all = dict(self._modules)
        self._note_the_rest(names)
        self._note_children()
        for module in (*self._base.values(), *self._modules.values()):
            _keep_for_ever(module)
        _keep_for_ever(self)

    def _load(self, name: str) -> None:
        before = list(_warnings.filters)
        try:
            __import__(name)
        except BaseException:  # whatever it is, a program will find out for itself
            self.failed.append(name)
        if _warnings.filters != before:
            self._filters[name] = [entry for entry in _warnings.filters if entry not in before]
            _warnings.filters[:] = before

    def _note_the_rest(self, names: list[str]) -> None:
        """What came in by ways that were not seen belongs to the first that was asked for."""
        noted = {name for imports in self._imports.values() for name in imports}
        for name in self._modules:
            if name not in noted and name not in names:
                self._imports.setdefault(names[0], {})[name] = None

    def _note_children(self) -> None:
        """What a package calls its submodules in the end: not always by their own name."""
        for name in self._modules:
            parent, _, child = name.rpartition(".")
            package = self._modules.get(parent) or self._base.get(parent)
            if package is not None and child in vars(package):
                self._children.setdefault(parent, {})[child] = vars(package)[child]

    def hide(self) -> None:
        """Leave only what a cold start has. What we imported ourselves is forgotten."""
        sys.modules.clear()
        sys.modules.update(self._base)
        for parent, children in self._children.items():
            namespace = vars(self._modules.get(parent) or self._base[parent])
            for child in children:
                if namespace.get(child) is self._modules[f"{parent}.{child}"]:
                    del namespace[child]
        _bootstrap._find_spec = self._find_spec
        atexit.register(self._leave_standing)  # the first to be registered is the last to be called

    def _leave_standing(self) -> None:
        """An interpreter that ends takes every module apart. Ours were there before the program,
        and go with the process: only what the program made itself has an end that can be seen."""
        for name, module in (*self._base.items(), *self._all.items()):
            if sys.modules.get(name) is module and name not in _NEEDED_TO_THE_END:
                del sys.modules[name]

    def withdraw_if_shadowed(self, names: set[str]) -> None:
        """If the program brings a module of the same name, nothing of ours can be right."""
        if any(name.partition(".")[0] in names for name in self._modules):
            _bootstrap._find_spec = self._find
            self._modules.clear()

    def _find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        module = self._modules.get(name)
        if module is None or target is not None or sys.meta_path != self._meta_path:
            return self._find(name, path, target)
        if path is None and sys.path[1:] != self._path:
            found = self._find(name, path, target)
            if found is None or found.origin != module.__spec__.origin:  # type: ignore[union-attr]
                return found
        del self._modules[name]  # should it be imported again, then really
        return _bootstrap.ModuleSpec(name, _Revealing(self, name, module))

    def reveal(self, name: str, module: ModuleType) -> None:
        """All that importing it would have done, but for running it."""
        for imported in self._imports.get(name, ()):
            if imported in self._modules or imported not in sys.modules:
                try:
                    _bootstrap._gcd_import(imported)
                except ImportError:
                    continue  # it had tried, and lived without it
        for child, value in self._children.get(name, {}).items():
            if f"{name}.{child}" in sys.modules:
                setattr(module, child, value)
        for callback, args, keywords in self._at_exit.get(name, ()):
            atexit.register(callback, *args, **keywords)
        if name in self._filters:
            _warnings.filters[:0] = self._filters[name]
            _warnings._filters_mutated()
        if name in _FRESH:
            _FRESH[name](module)


def _keep_for_ever(thing: object) -> None:
    """What was hidden to the end need not be taken apart at the end."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class _Revealing:
    """A loader that has loaded already."""

    def __init__(self, preloaded: Preloaded, name: str, module: ModuleType) -> None:
        self._preloaded = preloaded
        self._name = name
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: Any) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
        self._preloaded.reveal(self._name, module)


class _Recorder:
    """Watches imports, and what modules want to be done at exit."""

    def __init__(
        self, imports: dict[str, dict[str, None]], at_exit: dict[str, list[tuple[Any, ...]]]
    ) -> None:
        self._imports = imports
        self._at_exit = at_exit

    def __enter__(self) -> None:
        self._import = builtins.__import__
        self._register = atexit.register
        builtins.__import__ = self._on_import
        atexit.register = self._on_register  # type: ignore[assignment]

    def __exit__(self, *exc_info: object) -> None:
        builtins.__import__ = self._import
        atexit.register = self._register

    def _on_import(
        self,
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> ModuleType:
        module = self._import(name, globals, locals, fromlist, level)
        importer = (globals or {}).get("__name__")
        if importer is not None:
            noted = self._imports.setdefault(importer, {})
            full = _bootstrap._calc___package__(globals) if level else ""
            absolute = _bootstrap._resolve_name(name, full, level) if level else name
            noted[absolute] = None
            for part in fromlist or ():
                if f"{absolute}.{part}" in sys.modules:
                    noted[f"{absolute}.{part}"] = None
        return module

    def _on_register(self, callback: Any, *args: Any, **keywords: Any) -> Any:
        owner = sys._getframe(1).f_globals.get("__name__", "")
        self._at_exit.setdefault(owner, []).append((callback, args, keywords))
        return callback


def _fresh_logging(module: Any) -> None:
    module._startTime = time.time()


def _fresh_multiprocessing(module: Any) -> None:
    current = module._current_process
    current._config["authkey"] = module.AuthenticationString(os.urandom(32))


def _fresh_threading(module: Any) -> None:
    module._main_thread._set_ident()
    module._main_thread._set_native_id()


# State that a module makes for itself when it is imported, and that no two runs may share.
# (`random` sees to that itself after a fork.)
_FRESH: dict[str, Any] = {
    "logging": _fresh_logging,
    "multiprocessing.process": _fresh_multiprocessing,
    "threading": _fresh_threading,
    "numpy.random.mtrand": lambda module: module.seed(),
}

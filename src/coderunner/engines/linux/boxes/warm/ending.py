"""The end of a program: what need not be taken apart is left standing.

An interpreter that ends takes every module apart, one by one. Those that were there before the
program go with the process as well, and nobody can see the difference, unless one of them holds on
to something of the program's that has something to say, or to write, at its own end.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import sys
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from types import ModuleType
from typing import Any

from .preload import Preloaded

_NEEDED_TO_THE_END = ("sys", "builtins", "__main__")
# Holds on to the program's event loop, and through it to tasks, which complain at their end.
_HOLDS_OBJECTS = "asyncio"
_BUSY_STILL = "site"  # which we are called by
# A program with a word of these in it may be listening.
_LISTENING = (b"__del__", b"weakref")
_MOST_FILES, _MOST_BYTES = 50, 1 << 20

_python = ctypes.PyDLL(None)  # not `ctypes.pythonapi`, which programs can look at
for _name in ("Py_IncRef", "Py_DecRef", "PyObject_GC_Track", "PyObject_GC_UnTrack"):
    getattr(_python, _name).argtypes = (ctypes.py_object,)


def keep(things: Iterable[Any]) -> None:
    """What is let go of is taken apart, and every part that is written to has to be copied."""
    for thing in things:
        _python.Py_IncRef(thing)


class Ending:
    def __init__(self, preloaded: Preloaded, library: ctypes.PyDLL | None) -> None:
        self._preloaded = preloaded
        modules = {**preloaded.base, **preloaded.all}
        # By themselves: `multiprocessing` has another name for one of them.
        needed = [id(modules[name]) for name in _NEEDED_TO_THE_END]
        self._standing: dict[str, Any] = {
            name: module
            for name, module in modules.items()
            if id(module) not in needed and name.partition(".")[0] != _HOLDS_OBJECTS
        }
        self._modules = sys.modules  # a program may put something else in its place
        self._sizes = _Sizes()
        self._last = [_Last(self)]
        self._library = library if library is not None and _prepare(library) else None
        keep(self._kept())

    def _kept(self) -> Iterator[Any]:
        yield self
        yield from self._standing.values()

    def freeze(self) -> None:
        """Once everything is hidden: what is there by now is not garbage, and need not be looked
        at by each program's collector, which would copy it. But the namespace of the program
        itself may well become a part of garbage."""
        gc.collect()
        gc.freeze()
        main = sys.modules["__main__"]
        for thing in (main, vars(main)):
            if gc.is_tracked(thing):
                _python.PyObject_GC_UnTrack(thing)
            _python.PyObject_GC_Track(thing)
        for name, module in self._standing.items():
            if not isinstance(module, ModuleType) or name == _BUSY_STILL:
                continue
            if not self._preloaded.is_changed_by_others(module):
                self._sizes.note(name, vars(module))

    def prepare(self, directory: str) -> None:
        """Before the program in this directory begins."""
        if _may_be_listening(directory):
            self._let_fall()
        else:
            atexit.register(bool, self._last.pop())

    def _let_fall(self) -> None:
        """Have everything taken apart as at any other end."""
        for thing in self._kept():
            _python.Py_DecRef(thing)
        self._standing.clear()
        self._last.clear()
        gc.unfreeze()

    def come(self) -> None:
        if _may_still_import() or any(self._has_grown(*it) for it in self._sizes.changed().items()):
            self._let_fall()
        standing, modules = self._standing, self._modules
        for name in [name for name, it in modules.items() if standing.get(name) is it]:
            del modules[name]
        if standing and self._library is not None:
            sys.stdout.flush()  # an error is for the interpreter to find; then we allow nothing
            sys.stderr.flush()
            self._library.ending_allow()

    def _has_grown(self, name: str, before: int) -> bool:
        """Whether the program has put something into it. (Submodules come and go.)"""
        own = [key for key in vars(self._standing[name]) if f"{name}.{key}" not in self._modules]
        return len(own) > before


def _prepare(library: ctypes.PyDLL) -> bool:
    """See `ending.c`: the rest of the end, which nobody can notice, can be left out."""
    library.ending_prepare.argtypes = (ctypes.py_object,)
    return bool(library.ending_prepare(gc.get_objects) == 0)


class _Last:
    """Belongs to a callback, and callbacks are let go of once all of them have been called."""

    def __init__(self, ending: Ending) -> None:
        self._ending = ending

    def __del__(self) -> None:
        try:
            if _is_called_by_nobody():  # but the interpreter itself: this is the end
                self._ending.come()
        except BaseException:  # noqa: S110 - the program may have broken whatever we use
            pass


def _may_still_import() -> bool:
    """A stream of the program's own, when it is flushed."""
    return (type(sys.stdout), type(sys.stderr)) != (TextIOWrapper, TextIOWrapper)


def _is_called_by_nobody() -> bool:
    try:
        sys._getframe(2)
    except ValueError:
        return True
    return False


class _Sizes:
    """How many names each module has of its own, where nobody but the program adds any. Read where
    the interpreter keeps them, since a namespace that is asked for counts references."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._places: list[ctypes.c_ssize_t] = []
        self._noted: list[int] = []

    def note(self, name: str, namespace: dict[str, Any]) -> None:
        place = ctypes.c_ssize_t.from_address(id(namespace) + object.__basicsize__)
        if place.value != len(namespace):
            raise RuntimeError("dictionaries have their sizes elsewhere")
        self._names.append(name)
        self._places.append(place)
        self._noted.append(place.value)

    def changed(self) -> dict[str, int]:
        """Those that have another size now, and what it was."""
        now = [place.value for place in self._places]
        if now == self._noted:
            return {}
        rows = zip(self._names, self._noted, now, strict=True)
        return {name: before for name, before, size in rows if size != before}


def _may_be_listening(directory: str) -> bool:
    files = size = 0
    for source in _sources(directory):
        files, size = files + 1, size + source.stat().st_size
        if files > _MOST_FILES or size > _MOST_BYTES or _mentions_it(source):
            return True
    return False


def _mentions_it(source: os.DirEntry[str]) -> bool:
    file = os.open(source.path, os.O_RDONLY | os.O_CLOEXEC)
    text = os.read(file, source.stat().st_size)
    os.close(file)
    return any(word in text for word in _LISTENING)


def _sources(directory: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir():
                if not entry.is_symlink():
                    yield from _sources(entry.path)
            elif entry.name.endswith(".py"):
                yield entry

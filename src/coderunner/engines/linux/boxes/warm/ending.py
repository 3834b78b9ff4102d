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
from collections.abc import Iterator
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


class Ending:
    def __init__(self, preloaded: Preloaded) -> None:
        self._preloaded = preloaded
        modules = {**preloaded.base, **preloaded.all}
        self._standing: dict[str, Any] = {
            name: module
            for name, module in modules.items()
            if name not in _NEEDED_TO_THE_END and name.partition(".")[0] != _HOLDS_OBJECTS
        }
        self._sizes: dict[str, int] = {}
        # Callbacks are called in reverse order, and ours has to be the last.
        self._possible = atexit._ncallbacks() == 0
        if self._possible:
            for thing in self._kept():
                _python.Py_IncRef(thing)

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
        self._measure()

    def _measure(self) -> None:
        """How many names each module has of its own, where nobody but the program adds any."""
        for name, module in self._standing.items():
            if not isinstance(module, ModuleType) or name == _BUSY_STILL:
                continue
            if not self._preloaded.is_changed_by_others(module):
                self._sizes[name] = len(vars(module))

    def prepare(self, directory: str) -> None:
        """Before the program in this directory begins."""
        if not self._possible:
            return
        if _may_be_listening(directory):
            self._let_fall()
        else:
            atexit.register(self._at_exit)

    def _let_fall(self) -> None:
        """Have everything taken apart as at any other end."""
        for thing in self._kept():
            _python.Py_DecRef(thing)
        self._standing.clear()
        gc.unfreeze()

    def _at_exit(self) -> None:
        try:
            sys._getframe(1)
        except ValueError:  # nobody has called us but the interpreter itself: this is the end
            if any(self._has_grown(name, module) for name, module in self._standing.items()):
                self._let_fall()
            for name, module in self._standing.items():
                if sys.modules.get(name) is module:
                    del sys.modules[name]

    def _has_grown(self, name: str, module: Any) -> bool:
        """Whether the program has put something into it. (Submodules come and go.)"""
        if name not in self._sizes or len(vars(module)) == self._sizes[name]:
            return False
        own = [key for key in vars(module) if f"{name}.{key}" not in sys.modules]
        return len(own) > self._sizes[name]


def _may_be_listening(directory: str) -> bool:
    files = size = 0
    for path in _sources(directory):
        with open(path, "rb") as file:
            text = file.read(_MOST_BYTES)
        files, size = files + 1, size + len(text)
        if files > _MOST_FILES or size > _MOST_BYTES or any(word in text for word in _LISTENING):
            return True
    return False


def _sources(directory: str) -> Iterator[str]:
    for folder, _, names in os.walk(directory):
        for name in names:
            if name.endswith(".py"):
                yield f"{folder}/{name}"

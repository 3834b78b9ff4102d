"""What code that is graded changes of others, put back before tests run.

A solution that replaces `math.isclose`, `unittest.TestCase.assertEqual` or `builtins.len` would
have its tests ask itself whether it is right. Only what was there before and is another object now
is put back: what is added to a module disturbs nobody, unless it hides a built-in function there.

What puts things back are closures over built-in functions: there is no name by which the solution
could have replaced a part of them.
"""

from __future__ import annotations

import builtins
import sys

TYPE_CHECKING = False  # importing `typing` takes time
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any

    Restore = Callable[[], None]
    Namespace = dict[str, Any]

# A class's own bookkeeping, and what cannot be set.
_LEFT_ALONE = frozenset(("__dict__", "__weakref__", "__doc__", "__abstractmethods__", "_abc_impl"))
_OURS = ("__main__", "_grading")  # the solution does not find these at all


def taken_now(names: Collection[str]) -> tuple[Restore, Namespace]:
    """A function that puts everything back, and the built-in functions as they are now. It watches
    the modules below these names."""
    found = [module for name, module in sys.modules.items() if name.partition(".")[0] in names]
    modules = [builtins, *(module for module in found if isinstance(module, type(sys)))]
    steps = (
        _finders((sys.path, sys.meta_path, sys.path_hooks)),
        _loaded(sys.modules),
        _namespaces([vars(module) for module in modules]),
        kept_classes([one for module in modules[1:] for one in _classes_of(module)]),
    )

    def restore() -> None:
        for step in steps:
            step()

    return restore, dict(vars(builtins))


def _classes_of(module: Any) -> list[type]:
    values = vars(module).values()
    return [it for it in values if isinstance(it, type) and it.__module__ == module.__name__]


def _finders(lists: Collection[list[Any]]) -> Restore:
    before = [(held, list(held)) for held in lists]

    def restore() -> None:
        for held, was in before:
            if held != was:
                held[:] = was

    return restore


def _loaded(modules: dict[str, Any]) -> Restore:
    before = {name: it for name, it in modules.items() if name.partition(".")[0] not in _OURS}

    def restore() -> None:
        for name, module in before.items():
            if modules.get(name) is not module:
                modules[name] = module

    return restore


def _namespaces(namespaces: list[Namespace]) -> Restore:
    before, absent = [(now, dict(now)) for now in namespaces], object()
    hidden, len_ = frozenset(vars(builtins)), len

    def restore() -> None:
        for now, was in before:
            for name, value in was.items():
                if now.get(name, absent) is not value:
                    now[name] = value
            if len_(now) > len_(was):
                for name in [name for name in now if name in hidden and name not in was]:
                    del now[name]

    return restore


def kept_classes(classes: list[type], counts: Callable[[object], bool] = lambda _: True) -> Restore:
    """What these have of their own, as far as it counts, and nothing that hides what is above."""
    before, absent = [(owner, dict(vars(owner))) for owner in classes], object()
    vars_, dict_, set_, delete, left_alone = vars, dict, setattr, delattr, _LEFT_ALONE
    get, super_ = getattr, super

    def above(owner: type, name: str) -> object:
        return get(super_(owner, owner), name, None)

    def restore() -> None:
        for owner, was in before:
            now = dict_(vars_(owner))
            for name, value in was.items():
                if now.get(name, absent) is not value and name not in left_alone and counts(value):
                    set_(owner, name, value)
            for name in now:
                if name not in was and name not in left_alone and counts(above(owner, name)):
                    delete(owner, name)

    return restore

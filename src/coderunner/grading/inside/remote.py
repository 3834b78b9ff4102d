"""The solution, where it is in another box: a module whose functions ask there.

Nothing of the solution runs here. What comes from there is plain data, and names.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from threading import Lock

from _grading import plain  # type: ignore[import-not-found]  # it is there in the box

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_UNFIT = "tests in a box of their own can use functions whose arguments and results are plain data"


# With these the solution would end `all(map(…))` of a test before its time, as if all were well.
_ENDS_A_LOOP = (StopIteration, StopAsyncIteration)


class SolutionEnded(BaseException):
    """Its box is gone. No test is to catch it by accident."""


class Unfit(BaseException):
    """What this way of grading cannot do."""


def fill(solution: ModuleType, line: Any) -> str:
    """Give the module what the solution has; what kept that from loading, or nothing."""
    first = line.line()
    if first[:5] == b"gone ":
        return f"{first[5:].decode()}, while the code was loaded"
    try:
        trouble, surface = plain.loaded(first)
        there = _There(line)
        for name, said in surface.items():
            setattr(solution, name, there.stand_in(name, *said))
    except (ValueError, TypeError, AttributeError) as error:
        return f"what it says of itself cannot be read: {error}"
    return str(trouble)


class _There:
    """The other box."""

    def __init__(self, line: Any) -> None:
        self._line = line
        self._last = 0
        self._gone = ""
        self._one_at_a_time = Lock()
        self._errors: dict[str, type[BaseException]] = {}

    def stand_in(self, name: str, kind: str, said: Any = None) -> Any:
        if kind == "value":
            return said
        if kind == "error":
            return self._error(said)
        if kind == "module":
            return _module(str(said))
        if kind == "function":
            return self._function(name)
        if kind == "async":
            return self._async_function(name)
        return _Unusable(name, str(said))

    def _function(self, name: str) -> Callable[..., Any]:
        def ask(*args: Any, **kwargs: Any) -> Any:
            return self._asked(name, args, kwargs)

        return _named(ask, name)

    def _async_function(self, name: str) -> Callable[..., Any]:
        async def ask(*args: Any, **kwargs: Any) -> Any:
            return self._asked(name, args, kwargs)

        return _named(ask, name)

    def _asked(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            question = plain.dumped([name, args, kwargs])
        except plain.NotPlain as error:
            raise Unfit(f"{name}() is given {error}: {_UNFIT}") from None
        kind, *said = self._answer(question)
        if kind == "returned":
            value, changed = said
            for key, now in changed.items():
                _change(kwargs[key] if isinstance(key, str) else args[key], now)
            return value
        if kind == "raised":
            family, given, text, known = said
            thrown = self._made(family, given, text)
            vars(thrown).update(known)
            if isinstance(thrown, _ENDS_A_LOOP):
                raise RuntimeError(f"{name}() has raised {type(thrown).__name__}")
            raise thrown
        raise Unfit(f"{said[0]}: {_UNFIT}")

    def _answer(self, question: str) -> list[Any]:
        with self._one_at_a_time:
            if self._gone:
                raise SolutionEnded(self._gone)
            self._last += 1
            self._line.say("call", str(self._last), question)
            answer = self._line.line()
        if answer[:5] == b"gone " or not answer:
            self._gone = answer[5:].decode() or "the solution has ended"
            raise SolutionEnded(self._gone)
        number, _, said = answer.partition(b" ")
        try:
            found = plain.loaded(said)
            if int(number) == self._last and isinstance(found, list):
                return found
        except ValueError:
            pass
        raise Unfit("the answer cannot be read")

    def _error(self, family: list[str]) -> type[BaseException]:
        """The class of this name. One that the solution has made is made here, too."""
        name, above = str(family[0]), family[1:]
        known = getattr(builtins, name, None)
        if isinstance(known, type) and issubclass(known, BaseException):
            return known
        if name not in self._errors:
            base = self._error(above) if above else Exception
            self._errors[name] = type(name, (base,), {"__module__": "solution"})
        return self._errors[name]

    def _made(self, family: list[str], args: tuple[Any, ...], text: str) -> BaseException:
        kind = self._error(family)
        try:
            error = kind(*args)
            if args or not text:
                return error
        except Exception:  # noqa: S110 - not made as others are
            pass
        said = {"__init__": lambda *_: None, "__str__": lambda _: text}
        for above in (kind, Exception):  # some, like groups, cannot be made of nothing
            try:
                in_words: BaseException = type(kind.__name__, (above,), said)()
                return in_words
            except TypeError:
                continue
        return Exception(text)


class _Unusable:
    """Something that cannot be handed over. Using it says so."""

    def __init__(self, name: str, what: str) -> None:
        self.__dict__["_why"] = f"{name} is {what}: {_UNFIT}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise Unfit(self._why)

    def __getattr__(self, name: str) -> Any:
        raise Unfit(self._why)


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "solution"
    return function


def _module(name: str) -> Any:
    """A solution that has imported `math` has it for its tests, too; only what is Python's own."""
    known = getattr(sys, "stdlib_module_names", ())
    if name.partition(".")[0] in known:
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
    return _Unusable(name, "a module")


def _change(value: Any, now: Any) -> None:
    """Make of this what it has become there."""
    if isinstance(value, (list, bytearray)):
        value[:] = now
    elif isinstance(value, (dict, set)):
        value.clear()
        value.update(now)

"""The box of the solution, where the tests are in another: does what it is asked to do.

It knows names and arguments, and neither the tests nor what they expect. All that it can do with
its answers is to give wrong ones.
"""

from __future__ import annotations

import os
import sys

from _grading import channel, loading, plain  # type: ignore[import-not-found]  # in the box

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_LONGEST = 8 << 20
_COROUTINE = 0x80  # of a function's flags


def main() -> None:
    line = channel.Channel()
    line.receive()
    solution = type(sys)(loading.NAMES[0])
    trouble = loading.load_solution(solution)
    line.mark("")
    line.say("surface", introduction(solution, trouble))
    while question := line.line():
        number, _, asked = question.decode().partition(" ")
        answer = answered(solution, asked)
        line.mark(number)
        line.say("answer", number, answer)
    os._exit(0)


def introduction(solution: ModuleType, trouble: str) -> str:
    said = str(plain.dumped([trouble, {} if trouble else surface(solution)]))
    if len(said) <= _LONGEST:
        return said
    return str(plain.dumped([f"its variables hold more than {_LONGEST >> 20} MB", {}]))


def surface(solution: ModuleType) -> dict[str, list[Any]]:
    """What tests can use by name, and what it is."""
    return {name: described(value) for name, value in vars(solution).items() if name[:2] != "__"}


def described(value: Any) -> list[Any]:
    if isinstance(value, type) and issubclass(value, BaseException):
        return ["error", family(value)]
    if isinstance(value, type(sys)):
        return ["module", value.__name__]
    if callable(value) and not isinstance(value, type):
        code = getattr(value, "__code__", None)
        return ["async" if code and code.co_flags & _COROUTINE else "function"]
    try:
        return ["value", plain.loaded(plain.dumped(value))]
    except plain.NotPlain as error:
        return ["other", "a class" if isinstance(value, type) else str(error)]


def family(kind: type) -> list[str]:
    return [one.__name__ for one in kind.__mro__ if issubclass(one, BaseException)]


def answered(solution: ModuleType, asked: str) -> str:
    name, args, kwargs = plain.loaded(asked)
    answer = str(plain.dumped(answer_of(vars(solution)[name], name, args, kwargs)))
    if len(answer) <= _LONGEST:
        return answer
    return str(plain.dumped(["unfit", f"{name}() returns more than {_LONGEST >> 20} MB"]))


def answer_of(function: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> list[Any]:
    given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
    before = {key: plain.dumped(value) for key, value in given.items()}
    try:
        value = function(*args, **kwargs)
        if hasattr(value, "__await__"):
            value = waited_for(value)
    except BaseException as error:
        return raised(error)
    try:
        # What has been changed in place is to change there, too.
        changed = {key: now for key, now in given.items() if plain.dumped(now) != before[key]}
        return ["returned", plain.loaded(plain.dumped(value)), changed]
    except plain.NotPlain as error:
        return ["unfit", f"{name}() returns {error}"]


def waited_for(value: Any) -> Any:
    import asyncio  # which takes time, and few need it

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def raised(error: BaseException) -> list[Any]:
    try:
        args = plain.loaded(plain.dumped(error.args))
    except plain.NotPlain:
        args = ()
    return ["raised", family(type(error)), args, channel.cut(shown(error)), own(error)]


def own(error: BaseException) -> dict[str, Any]:
    """What it knows besides, as far as that can be handed over."""
    found = {}
    for name, value in getattr(error, "__dict__", {}).items():
        try:
            found[name] = plain.loaded(plain.dumped(value))
        except plain.NotPlain:
            continue
    return found


def shown(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return "it cannot be shown"


main()

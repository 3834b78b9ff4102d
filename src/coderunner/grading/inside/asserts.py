"""Asserts that say what they have compared.

`assert add(1, 2) == 3` becomes

    left, right = add(1, 2), 3
    if not left == right or <it would have been equal to anything>:
        raise AssertionError("assert add(1, 2) == 3 → -1 == 3")

with names that no program has.
"""

from __future__ import annotations

import ast
import sys

from _grading.verdicts import TESTS  # type: ignore[import-not-found]  # it is there in the box

TYPE_CHECKING = False  # importing `typing` takes time
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_LEFT, _RIGHT, _WRONG, _FOOLED = "@left", "@right", "@wrong", "@fooled"
_SHOWN = 200  # characters of a value, of the text of an assert
_SIGNS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_PLAIN = (int, float, complex, str, bytes, bool, type(None), list, tuple, dict, set, frozenset)
_DEEPEST = 20

_repr, _type, _len, _getattr, _bool, _any, _zip = repr, type, len, getattr, bool, any, zip
# What a class really is, whatever its metaclass says.
_bases_of = type.__dict__["__mro__"].__get__
_own_of = type.__dict__["__dict__"].__get__
_SlotWrapper = type(object.__eq__)
_trusted: set[type] = set()


def rewritten(tree: ast.Module, lines: list[str]) -> ast.Module:
    """The same tree, with every assert in it saying more. `lines` are those of its source."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = _getattr(node, field, None)
            if isinstance(body, list) and _any(isinstance(one, ast.Assert) for one in body):
                body[:] = [new for old in body for new in _replaced(old, lines)]
    return ast.fix_missing_locations(tree)


def names() -> dict[str, Any]:
    """What the rewritten code looks for among its globals."""
    return {_WRONG: _wrong, _FOOLED: fooled}


def trust(modules: Iterable[str]) -> None:
    """What the tests import may be there to equal many things: `mock.ANY`, `pytest.approx`."""
    tops = {name.partition(".")[0] for name in modules}
    if "pytest" in tops:
        tops.add("_pytest")
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in tops:
            _trusted.update(
                one
                for one in vars(module).values()
                if isinstance(one, type) and "__eq__" in vars(one)
            )


def _replaced(node: ast.stmt, lines: list[str]) -> list[ast.stmt]:
    if not isinstance(node, ast.Assert):
        return [node]
    text = _text(node.test, lines)
    return [new for part in _parts(node.test) for new in _checked(part, node, text)]


def _parts(test: ast.expr) -> list[ast.expr]:
    """`a and b` are two things to look at."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [part for value in test.values for part in _parts(value)]
    return [test]


def _checked(test: ast.expr, node: ast.Assert, text: str) -> list[ast.stmt]:
    left, sign, right = _compared(test)
    assigned: list[ast.stmt] = [_assign(_LEFT, left)]
    holds: ast.expr = _load(_LEFT)
    if isinstance(test, ast.Compare) and right is not None:
        assigned.append(_assign(_RIGHT, right))
        holds = ast.Compare(_load(_LEFT), test.ops, [_load(_RIGHT)])
    other = ast.Constant(None) if right is None else _load(_RIGHT)
    wrong: ast.expr = ast.UnaryOp(ast.Not(), holds)
    if sign == "==":
        foul = ast.Call(_load(_FOOLED), [_load(_LEFT), other], [])
        wrong = ast.BoolOp(ast.Or(), [wrong, foul])
    said = [ast.Constant(text), _load(_LEFT), ast.Constant(sign), other]
    error = ast.Call(_load(_WRONG), [*said, node.msg or ast.Constant(None)], [])
    raising = ast.If(wrong, [ast.Raise(error, None)], [])
    return [_at(node, one) for one in (*assigned, raising)]


def _compared(test: ast.expr) -> tuple[ast.expr, str, ast.expr | None]:
    """Both sides and the sign between them; or the whole, if there are not just two."""
    if isinstance(test, ast.Compare) and _len(test.ops) == 1:
        return test.left, _SIGNS[_type(test.ops[0])], test.comparators[0]
    return test, "", None


def _at(node: ast.stmt, new: ast.stmt) -> ast.stmt:
    """Tracebacks lead to the assert."""
    for one in ast.walk(new):
        if "lineno" in one._attributes and _getattr(one, "lineno", None) is None:
            ast.copy_location(one, node)
    return new


def _assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _text(test: ast.expr, lines: list[str]) -> str:
    """The source of an expression, on one line."""
    first, last = test.lineno - 1, test.end_lineno
    encoded = [line.encode() for line in lines[first:last]]
    encoded[-1] = encoded[-1][: test.end_col_offset]
    encoded[0] = encoded[0][test.col_offset :]
    return _cut(" ".join(b" ".join(encoded).decode("utf-8", "replace").split()))


def _wrong(text: str, left: Any, sign: str, right: Any, message: Any) -> AssertionError:
    values = f"{shown(left)} {sign} {shown(right)}" if sign else shown(left)
    if sign == "==" and _bool(left == right):
        values += f": {_type(left).__name__} says that it equals anything"
    more = (
        ""
        if message is None
        else f": {_cut(message if isinstance(message, str) else shown(message))}"
    )
    return AssertionError(f"assert {text} → {values}{more}")


def shown(value: object) -> str:
    try:
        return _cut(_repr(value))
    except BaseException as error:
        return f"<{_type(value).__name__} that cannot be shown: {_type(error).__name__}>"


def _cut(text: str) -> str:
    if _len(text) <= _SHOWN:
        return text
    return f"{text[: _SHOWN // 2]}…{text[-_SHOWN // 2 :]}"


class _Nothing:
    """Nothing is equal to this."""


def fooled(left: Any, right: Any, depth: int = 0) -> bool:
    """Whether plain data was compared with something that would have been equal to anything."""
    ours, theirs = (left, right) if _is_plain(right) else (right, left)
    if not _is_plain(theirs) or depth > _DEEPEST:
        return False
    kind = _type(ours)
    if kind not in _PLAIN:
        return _may_lie(kind) and _says_yes(ours, theirs)
    if kind in (list, tuple) and _type(theirs) in (list, tuple):
        return _any(fooled(one, other, depth + 1) for one, other in _zip(ours, theirs))
    if kind is dict and _type(theirs) is dict:
        return _any(fooled(ours[key], theirs[key], depth + 1) for key in theirs if key in ours)
    return False


def _may_lie(kind: type) -> bool:
    """Whether the solution has written what makes these equal."""
    owner = next(one for one in _bases_of(kind) if "__eq__" in _own_of(one))
    equal = _own_of(owner)["__eq__"]
    if owner in _trusted or (_type(equal) is _SlotWrapper and equal.__name__ == "__eq__"):
        return False
    code = _getattr(equal, "__code__", None)
    return code is None or code.co_filename != TESTS


def _is_plain(value: object) -> bool:
    return _type(value) in _PLAIN


def _says_yes(value: Any, expected: Any) -> bool:
    """To something else, too."""
    return _any(_equal(value, other) for other in (_Nothing(), *_others(expected)))


def _equal(value: Any, other: Any) -> bool:
    try:
        return _bool(value == other)
    except Exception:
        return False


def _others(expected: Any) -> tuple[Any, ...]:
    if isinstance(expected, (int, float, complex)):
        return (expected + 1, -expected - 1)
    if isinstance(expected, str):
        return (expected + "\0", "\0")
    if isinstance(expected, list):
        return ([*expected, _Nothing()],)
    if isinstance(expected, tuple):
        return ((*expected, _Nothing()),)
    if isinstance(expected, dict):
        return ({**expected, "\0": 0},)
    if isinstance(expected, (set, frozenset)):
        return (expected | {"\0"},)
    return ()

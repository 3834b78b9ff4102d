import typing

class P(typing.NamedTuple):
    x: int = 1
T = typing.TypeVar('T')

class D(typing.TypedDict):
    x: int

class Q(typing.Protocol):
    x: int

def f():
    return P().x

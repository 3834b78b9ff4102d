# Classes, descriptors, abstract bases, protocols: the machinery of everyday programs.
import abc
import collections
import functools
import typing


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...


class Square(Shape):
    def __init__(self, side):
        self.side = side

    @functools.cached_property
    def area(self):
        return self.side**2


@typing.runtime_checkable
class Sized(typing.Protocol):
    def __len__(self) -> int: ...


print(Square(3).area, isinstance([], Sized), Shape.__subclasses__(), Square.__mro__)
Point = collections.namedtuple("Point", "x y")
print(Point(1, 2), Point.__module__, collections.Counter("banana").most_common(2), Point._field_defaults)
print(collections.OrderedDict(a=1), collections.deque([1, 2], maxlen=1), collections.ChainMap({"a": 1}))


@functools.singledispatch
def show(value):
    return "object"


@show.register
def _(value: int):
    return "int"


print(show(1), show("x"), functools.lru_cache(maxsize=2)(len).cache_info())
Shape()

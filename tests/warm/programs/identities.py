# What should be the same thing is.
import _datetime
import _decimal
import _json
import array
import collections.abc
import copy
import copyreg
import dataclasses
import datetime
import decimal
import enum
import functools
import heapq
import json
import json.decoder
import numbers
import operator
import pickle
import re
import struct
import typing

print(_json.scanstring is json.decoder.scanstring, _datetime.datetime is datetime.datetime)
print(_decimal.Decimal is decimal.Decimal, isinstance(decimal.Decimal(1), numbers.Number))
print(isinstance(array.array("i"), collections.abc.MutableSequence), heapq.heappush)
print(pickle.loads(pickle.dumps(decimal.Decimal("1.5"))), pickle.loads(pickle.dumps(re.compile("a"))))
print(copy.deepcopy(datetime.date(2020, 1, 2)), pickle.dumps(datetime.date(2020, 1, 2)))
print(sorted(str(key) for key in copyreg.dispatch_table))
print(typing.get_type_hints(dataclasses.make_dataclass("D", [("x", typing.Optional[int])])))
print(typing.List[int] is typing.List[int], typing.Sequence[int].__origin__ is collections.abc.Sequence)


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Point:
    x: int
    y: "int" = dataclasses.field(default=2)


print(pickle.loads(pickle.dumps(Colour.RED)) is Colour.RED, pickle.loads(pickle.dumps(Point(1))))
print(decimal.getcontext(), decimal.getcontext() is decimal.getcontext())
print(struct.unpack("<i", b"1234"), operator.itemgetter(1)([1, 2]), functools.reduce(operator.add, [1, 2]))
print(re.error is getattr(re, "PatternError", re.error), json.JSONDecodeError.__module__)

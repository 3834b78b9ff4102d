"""In a box: says which imports a file of code asks for; `no code` if Python cannot compile it."""

import sys

from coderunner.sandbox.imports import TooDeep, imports_of

_AS_IT_RUNS = sys.getrecursionlimit()
_ROOM = 200_000  # far more than Python itself can compile, and within the stack of this box

with open(sys.argv[1], "rb") as file:
    source = file.read()
try:
    sys.setrecursionlimit(_ROOM)
    found = imports_of(source)
except TooDeep:
    sys.setrecursionlimit(_AS_IT_RUNS)
    try:
        compile(source, "", "exec")
    except (RecursionError, MemoryError):
        found = None
    else:
        raise  # it can be run and not be read
if found is None:
    print("no code")
else:
    first = {(each.module, each.by_attribute): each for each in reversed(found)}
    print([(each.module, each.line, each.by_attribute) for each in first.values()])

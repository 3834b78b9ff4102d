"""In a box: says which imports a file of code asks for, one line each; `no code` if it does not
parse."""

import sys

from coderunner.sandbox.imports import TooDeep, imports_of

# Far more than Python itself can compile, and still well within the stack of a box.
sys.setrecursionlimit(10_000)

with open(sys.argv[1], "rb") as file:
    source = file.read()
try:
    found = imports_of(source)
except TooDeep:
    found = None
if found is None:
    print("no code")
else:
    first = {(each.module, each.by_attribute): each for each in reversed(found)}
    print([(each.module, each.line, each.by_attribute) for each in first.values()])

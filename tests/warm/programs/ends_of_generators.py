# Generators that are still suspended are closed at the end, wherever they are.
import contextlib
import json
import sys


def generator(name):
    try:
        yield 1
    finally:
        print("closed:", name, sys.is_finalizing(), json.dumps([1]) if json else None)


@contextlib.contextmanager
def context():
    print("entered")
    try:
        yield
    finally:
        print("left")


in_main, json.kept, sys.kept = generator("in main"), generator("in json"), generator("in sys")
cycle = [generator("in garbage")]
cycle.append(cycle)
for suspended in (in_main, json.kept, sys.kept, cycle[0]):
    next(suspended)
del suspended, cycle
stack = contextlib.ExitStack()
stack.enter_context(context())
open_context = context()
open_context.__enter__()
print("end")

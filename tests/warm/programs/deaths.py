# Objects that say something when they go: in globals, cycles, modules, classes and defaults.
import json
import os
import sys
import threading
import weakref


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone:", self.name, os is None, json is None, json and json.dumps([1]))


first = Loud("global")
cycle = Loud("cycle")
cycle.itself = cycle
json.kept = Loud("in json")
os.kept = Loud("in os")
sys.kept = Loud("in sys")
threading.current_thread().kept = Loud("in a thread object")
Loud.kept = Loud("in its own class")
_private = Loud("private")


def function(argument=Loud("default")):
    pass


def generator():
    try:
        yield 1
    finally:
        print("generator closed")


suspended = generator()
next(suspended)
reference = weakref.ref(first, lambda _: print("callback"))
weakref.finalize(first, print, "finalized")
with open("module_of_mine.py", "w") as file:
    file.write("import __main__\nkept = __main__.Loud('in a module of mine')\n")
import module_of_mine

print("end")

# The last to go: what others still have to work with is what the interpreter left them.
import builtins
import collections
import json
import sys


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone:", self.name)
        print(json.dumps({"a": 1}))
        print(collections.Counter("aab"))


builtins.kept = Loud("in builtins")
sys.kept = Loud("in sys")

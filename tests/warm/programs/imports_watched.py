# A finder of the program's own sees every import, in order, and may answer.
import sys


class Watching:
    def find_spec(self, name, path=None, target=None):
        print("find", name, path and list(path), target)
        if name == "made_up":
            import importlib.util

            return importlib.util.spec_from_loader(name, Loader())
        return None


class Loader:
    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.x = 5


sys.meta_path.insert(0, Watching())
import json
import made_up
import typing

print(made_up.x, made_up)
sys.meta_path.pop(0)
import random


class Failing:
    def find_spec(self, name, path=None, target=None):
        raise RuntimeError(f"no {name} today")


sys.meta_path.insert(0, Failing())
import statistics

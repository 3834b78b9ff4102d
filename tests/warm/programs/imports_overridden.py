# __import__ replaced, modules put in by hand, lazy modules.
import builtins
import sys
import types

original = builtins.__import__
seen = []


def watched(name, globals=None, locals=None, fromlist=(), level=0):
    seen.append((name, globals and globals.get("__name__"), fromlist, level))
    return original(name, globals, locals, fromlist, level)


print(original)
fake = types.ModuleType("heapq")
fake.heappush = "mine"
sys.modules["heapq"] = fake
import heapq

print(heapq.heappush)
builtins.__import__ = watched
import string

builtins.__import__ = original
print([entry for entry in seen if entry[1] == "__main__"])
import importlib.util

spec = importlib.util.find_spec("colorsys")
lazy = importlib.util.LazyLoader(spec.loader)
spec.loader = lazy
module = importlib.util.module_from_spec(spec)
sys.modules["colorsys"] = module
lazy.exec_module(module)
print(type(module).__name__, module.rgb_to_hsv(1, 1, 1), type(module).__name__)

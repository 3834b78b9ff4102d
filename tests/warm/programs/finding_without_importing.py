# Asking where a module is loads nothing, and the answer is the import system's own.
import importlib.util
import pkgutil
import sys

before = list(sys.modules)
for name in ("json", "decimal", "random", "xml.etree", "typing", "math", "time", "nothing"):
    spec = importlib.util.find_spec(name)
    print(spec)
    print(spec and (spec.loader, spec.origin, spec.cached, spec.parent, spec.has_location))
print([name for name in sys.modules if name not in before])
import json

print(json.__spec__, importlib.util.find_spec("json") is json.__spec__)
print(pkgutil.find_loader("decimal").name if hasattr(pkgutil, "find_loader") else None)
copy = importlib.util.module_from_spec(importlib.util.find_spec("bisect"))
print(copy, "bisect" in sys.modules)

# Reloading, and importing what was thrown out.
import importlib
import sys

import json
import random

first, loads = json, json.loads
json.mark = 1
print(importlib.reload(json) is first, json.mark, json.loads is loads)
del sys.modules["json"]
import json

print(json is first, hasattr(json, "mark"), json.decoder is first.decoder)
del sys.modules["json.decoder"]
import json.decoder

print(json.decoder is first.decoder)
import decimal

context = decimal.getcontext()
for name in ("decimal", "_decimal"):
    sys.modules.pop(name, None)
import decimal as again

print(again is decimal, again.Decimal is decimal.Decimal)
sys.modules["fractions"] = None
try:
    import fractions
except ImportError as error:
    print(repr(error))
sys.modules["bisect"] = json
import bisect

print(bisect is json)
print(importlib.import_module("statistics").mean([1, 2, 3]) if "fractions" in sys.modules else 0)

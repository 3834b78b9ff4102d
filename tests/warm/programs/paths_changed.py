# Modules of the same name that appear while the program runs.
import os
import sys

os.mkdir("lib")
for name in ("json", "bisect"):
    with open(f"lib/{name}.py", "w") as file:
        file.write(f"print('my own {name}')\n")
with open("fractions.py", "w") as file:
    file.write("print('written just now')\n")
import fractions

print(fractions.__file__)
sys.path.insert(0, "lib")
import json

print(json.__file__, json)
sys.path.pop(0)
sys.path[0] = "lib"
import bisect

print(bisect.__file__)
sys.path.reverse()
import string

print(string.__file__)
sys.path.clear()
try:
    import decimal
except ImportError as error:
    print(error)
import math, time

print(math, time)

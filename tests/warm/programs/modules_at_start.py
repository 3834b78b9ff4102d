# What is loaded at the start, and in which order.
import sys

print(list(sys.modules))
for name, module in list(sys.modules.items()):
    print(name, module, getattr(module, "__file__", None), getattr(module, "__spec__", None))

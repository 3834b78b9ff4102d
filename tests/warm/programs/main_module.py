# What `__main__` holds, and what a program finds before it has done anything.
names = dir()
print(names)
print({name: value for name, value in list(vars().items()) if name != "names"}.keys())
print(__name__, __file__, __doc__, __package__, __spec__, type(__loader__).__name__)
print(__loader__.path, __loader__.name, __builtins__.__name__, __annotations__)
import sys

print(sys.modules["__main__"].__dict__ is globals(), sys.modules["__main__"])
print(dir(__builtins__))

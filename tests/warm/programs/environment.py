# The environment in all its places.
import ctypes
import os
import sys

print(dict(os.environ))
print(open("/proc/self/environ", "rb").read().split(b"\0"))
libc = ctypes.CDLL(None)
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
seen = []
while environ[len(seen)] is not None:
    seen.append(environ[len(seen)])
print(seen)
print(os.getenv("PYTHONPATH"), os.environb.get(b"HOME"))
os.environ["NEW"] = "value"
print(os.popen("env | grep NEW").read())

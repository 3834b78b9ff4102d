# Libraries in C: ctypes, sqlite3, ssl, zlib and the like.
import ctypes
import hashlib
import sys
import zlib

libc = ctypes.CDLL(None, use_errno=True)
print(libc.strlen(b"four"), libc.getpid() == __import__("os").getpid(), ctypes.get_errno())
print(libc.open(b"/nothing", 0), ctypes.get_errno(), vars(ctypes.pythonapi).keys())
print(sorted(name for name in vars(libc) if not name.startswith("_")))
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
numbers = (ctypes.c_int * 4)(3, 1, 4, 1)
libc.qsort(numbers, 4, 4, compare(lambda a, b: a[0] - b[0]))
print(list(numbers), zlib.crc32(b"abc"), hashlib.sha256(b"abc").hexdigest(), sorted(hashlib.algorithms_available))
try:
    import sqlite3

    print(sqlite3.connect(":memory:").execute("select 1 + 1, sqlite_version()").fetchall())
except ImportError as error:
    print(error)
try:
    import ssl

    print(ssl.OPENSSL_VERSION, len(ssl.RAND_bytes(5)), ssl.create_default_context().verify_mode)
except ImportError as error:
    print(error)

# For every module on its own: what comes with it, in which order, and what it then looks like.
import os
import sys

NAMES = """
re math random json collections itertools functools heapq bisect string datetime typing dataclasses
enum copy operator decimal fractions statistics time socket struct ctypes array select fcntl resource
threading traceback contextlib asyncio unittest xml xml.etree.ElementTree xml.dom concurrent
concurrent.futures importlib importlib.util importlib.machinery importlib.metadata logging
logging.handlers multiprocessing multiprocessing.pool subprocess pickle copyreg numbers abc
collections.abc io os.path pathlib tempfile shutil glob fnmatch uuid secrets hashlib hmac base64
binascii zlib gzip bz2 lzma zipfile tarfile csv configparser argparse getopt textwrap pprint reprlib
types weakref gc inspect dis ast tokenize token keyword linecache warnings atexit signal errno
sched queue locale codecs encodings.idna unicodedata stringprep calendar _strptime zoneinfo
ssl sqlite3 email email.mime.text http http.client http.server urllib urllib.request urllib.parse
html html.parser ipaddress cmath graphlib difflib timeit cProfile pdb doctest code codeop runpy
zipimport pkgutil selectors mmap curses platform sysconfig site builtins sys _thread ctypes.util
""".split()
start = list(sys.modules)


def look(name):
    try:
        __import__(name)
    except BaseException as error:
        print(name, "FAILS", type(error), error)
    came = [module for module in sys.modules if module not in start]
    kept = [module for module in sys.modules if module in start]
    print(name, came, kept == start)
    for module in came:
        it = sys.modules[module]
        print("  ", module, sorted(n for n in vars(it) if isinstance(vars(it)[n], type(sys))))
        print("    ", vars(it).get("__file__"), vars(it).get("__cached__"), vars(it).get("__path__"))
        print("    ", it.__spec__, vars(it).get("__loader__").__class__, it.__package__)
        print("    ", it.__spec__ and (it.__spec__.submodule_search_locations, it.__spec__.cached))


for name in NAMES:
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        look(name)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(pid, 0)

# The order of the last things, those of the library included.
import atexit
import concurrent.futures
import logging
import multiprocessing
import tempfile
import threading
import weakref


class Handler(logging.Handler):
    def emit(self, record):
        print(record.getMessage())

    def flush(self):
        print("logging flushes")

    def close(self):
        print("logging closes")
        super().close()


atexit.register(print, "registered first")
logging.getLogger().addHandler(Handler())


class Thing:
    pass


thing = Thing()
weakref.finalize(thing, print, "finalize")
from multiprocessing import util

util.Finalize(None, print, args=("multiprocessing finalizes",), exitpriority=1)
pool = concurrent.futures.ThreadPoolExecutor(1)
pool.submit(print, "in the pool").result()
directory = tempfile.TemporaryDirectory()
threading._register_atexit(print, "threading")
atexit.register(print, "registered last")
atexit.unregister(len)
print(atexit._ncallbacks() > 0)
print("end")

# The main thread and its neighbours.
import _thread
import os
import sys
import threading

main = threading.main_thread()
print(main.name, main.native_id == os.getpid(), main.ident == threading.get_ident(), main.daemon)
print(threading.get_native_id() == os.getpid(), threading.active_count(), _thread._count())
print(threading.enumerate() == [main], threading.stack_size(), sys.getswitchinterval())
thread = threading.Thread(target=lambda: print(threading.current_thread().name))
thread.start()
thread.join()
local = threading.local()
local.x = 1
print(local.x, threading.current_thread() is main)
print(repr(main).replace(str(main.ident), "IDENT"))


def depth(n=1):
    try:
        return depth(n + 1)
    except RecursionError:
        return n


thread = threading.Thread(target=lambda: print(depth()))
thread.start()
thread.join()

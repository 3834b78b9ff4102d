# Hooks for errors nobody catches.
import sys
import threading

print(sys.excepthook, sys.unraisablehook, sys.displayhook, sys.breakpointhook)
print(threading.excepthook, sys.__excepthook__ is sys.excepthook)


class Bad:
    def __del__(self):
        raise ValueError("in __del__")


def report(*args):
    print("excepthook:", args[0].__name__, args[1])


del_me = Bad()
del del_me
sys.stderr.flush()
threading.excepthook = lambda args: print("thread:", args.exc_type.__name__, args.thread.name)
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
sys.unraisablehook = lambda args: print("unraisable:", args.exc_value, args.object.__qualname__)
Bad()
sys.excepthook = report
raise LookupError("the end")

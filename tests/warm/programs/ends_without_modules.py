# Programs that break what an end needs.
import builtins
import os
import sys

for way in (
    "sys.modules = None", "del sys.modules", "sys.modules.clear()", "sys.modules[1] = 2",
    "del sys._getframe", "del builtins.any, builtins.zip", "del builtins.BaseException",
    "sys.modules['json'] = None", "import atexit; atexit.unregister(bool)",
    "import atexit; atexit.unregister(type('Any', (), {'__eq__': lambda *_: True})())",
):
    print(way, flush=True)
    pid = os.fork()
    if pid == 0:
        print("unflushed")
        exec(way)
        break
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)

# Every way to leave, each in a child: its code, and what it still says.
import os
import subprocess
import sys

WAYS = [
    "sys.exit()", "sys.exit(None)", "sys.exit(0)", "sys.exit(3)", "sys.exit(255)", "sys.exit(256)",
    "sys.exit(-1)", "sys.exit(2**40)", "sys.exit(True)", "sys.exit('a word')", "sys.exit((1, 2))",
    "sys.exit(1.5)", "raise SystemExit", "raise SystemExit(4)", "raise SystemExit(1, 2)", "exit(5)",
    "quit('bye')", "os._exit(6)", "import atexit; atexit.register(sys.exit, 7)",
    "import atexit; atexit.register(lambda: 1/0)", "raise KeyboardInterrupt",
    "class E(SystemExit): code = 9\nraise E", "sys.stdout.close()", "sys.stderr.close(); 1/0",
    "os.close(1); print(1)", "os.close(2); 1/0", "del sys.stdout", "sys.stdout = None; print(1)",
]
for way in WAYS:
    print(way)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        print("unflushed", end="")
        exec(way)
        break
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

# fork in the program itself: both halves go on, both flush what they had.
import os
import sys
import threading

print("before", end=" ")
pid = os.fork()
if pid:
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), "parent")
else:
    print("child", os.getppid() != 1, threading.main_thread().native_id == os.getpid())
    sys.exit(4)
sys.stdout.flush()
os.execv("/bin/sh", ["sh", "-c", "echo $0; exec ls /proc/self/fd"])

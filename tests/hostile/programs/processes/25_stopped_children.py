# Leaves children that are stopped: they cannot do anything, and they are dead at return, too.
# ends: exit 0
# ends on gvisor: exit 0 | memory

import os
import signal
import time

for _ in range(20):
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(3600)

# Children that are dead, and that nobody waits for. They count, too.
# limits: processes=64 wall_ms=20000
# ends: processes

import os
import time

for _ in range(120):
    if os.fork() == 0:
        os._exit(0)
time.sleep(10)

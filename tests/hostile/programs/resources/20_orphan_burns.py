# Sleeps while a grandchild burns that is nobody's child any more.
# limits: cpu_ms=300 wall_ms=30000
# ends: cpu_time

import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            pass
    os._exit(0)
os.wait()
time.sleep(3600)

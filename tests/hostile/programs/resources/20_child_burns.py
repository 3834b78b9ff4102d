# 20. Sleeps while a child burns cpu time.
# limits: cpu_ms=300 wall_ms=30000
# ends: cpu_time

import os
import time

if os.fork() == 0:
    while True:
        pass
time.sleep(3600)

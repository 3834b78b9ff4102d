# Catches everything, in a loop.
# limits: wall_ms=1000
# ends: wall_time

import time

while True:
    try:
        time.sleep(3600)
    except BaseException:
        continue

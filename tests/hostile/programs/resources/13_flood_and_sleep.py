# Less than a flood, then nothing more: the time limit ends it, and what it wrote is there.
# limits: wall_ms=1000
# ends: wall_time
# says: before

import time

print("before", flush=True)
time.sleep(3600)

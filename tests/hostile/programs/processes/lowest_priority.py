# Makes itself so humble that it hardly runs. Its time runs out nevertheless.
# limits: wall_ms=1000
# ends: wall_time
# ends on gvisor: exit 1

import os

os.nice(19)
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
for _ in range(3):
    os.fork()
while True:
    pass

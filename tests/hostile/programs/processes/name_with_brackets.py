# A process whose name looks like the end of a line in /proc/PID/stat: its cpu time counts.
# limits: cpu_ms=300 wall_ms=30000
# ends: cpu_time

import ctypes

PR_SET_NAME = 15
assert ctypes.CDLL(None).prctl(PR_SET_NAME, b"x) Z 1 1\n1 (", 0, 0, 0) == 0
while True:
    pass

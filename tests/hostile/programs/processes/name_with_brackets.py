# A process whose name looks like the end of a line in /proc/PID/stat: its cpu time counts.
# limits: cpu_ms=300 wall_ms=30000
# ends: cpu_time

import pathlib

pathlib.Path("/proc/self/comm").write_text("x) Z 1 1\n1 (")
while True:
    pass

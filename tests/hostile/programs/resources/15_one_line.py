# 15. One line of a gigabyte.
# limits: flood_bytes=4000000 wall_ms=30000
# ends: output

import sys

for _ in range(1 << 10):
    sys.stdout.write("x" * (1 << 20))

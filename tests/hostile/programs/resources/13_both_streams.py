# Floods stdout and stderr in turns.
# limits: flood_bytes=4000000 wall_ms=30000
# ends: output

import os

while True:
    os.write(1, b"out" * 10_000)
    os.write(2, b"err" * 10_000)

# Python forks for ever, and does not care about failures.
# limits: processes=64 wall_ms=20000
# ends: processes
# ends on gvisor: processes | memory

import contextlib
import os

while True:
    with contextlib.suppress(OSError):
        os.fork()

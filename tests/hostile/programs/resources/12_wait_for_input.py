# Waits for something that never comes, on a pipe of its own.
# limits: wall_ms=1000
# ends: wall_time

import os
import select

reader, writer = os.pipe()
select.select([reader], [], [])

# Memory as a lot of small files in /tmp.
# limits: memory_mb=32 disk_mb=256 files=100000
# ends: memory
# ends on gvisor: exit 1 | wall_time

import itertools

for number in itertools.count():
    with open(f"/tmp/hostile-{number}", "wb") as file:
        file.write(b"x" * 4096)

# 6. Fills /dev/shm: that is memory.
# limits: memory_mb=32 disk_mb=256
# ends: memory
# ends on gvisor: exit 1

import itertools

for number in itertools.count():
    with open(f"/dev/shm/hostile-{number}", "wb") as file:
        file.write(b"x" * (1 << 20))

# 5. Fills /tmp.
# limits: disk_mb=16
# ends: exit 0
# says: ENOSPC
# says: it had at most 16 MB

import errno
import itertools
import os

written = 0
try:
    for number in itertools.count():
        with open(f"/tmp/hostile-{number}", "wb", buffering=0) as file:
            written += file.write(b"x" * (1 << 20))
except OSError as error:
    print(errno.errorcode[error.errno or 0])
size = sum(entry.stat().st_size for entry in os.scandir("/tmp"))
print("it had at most 16 MB" if written <= size <= 16 << 20 else f"{size} bytes")

# 9. Ten million empty files.
# limits: files=2000
# ends: exit 0
# says: ENOSPC
# says: about 2000
# ends on gvisor: wall_time
# may say on gvisor:

import errno

made = 0
try:
    for number in range(10_000_000):
        with open(f"hostile-{number}", "xb"):
            made = number + 1
except OSError as error:
    print(errno.errorcode[error.errno or 0])
print("about 2000" if made < 2100 else made)

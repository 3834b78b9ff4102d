# Opens its streams again by name after it has closed them.
# ends: exit 0
# says: once more

import os

reopened = os.open("/dev/stdout", os.O_WRONLY)
for fd in (0, 1, 2):
    os.close(fd)
os.write(reopened, b"once more\n")

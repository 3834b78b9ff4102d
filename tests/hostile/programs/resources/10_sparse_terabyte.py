# 10. A file of one terabyte with nothing in it.
# ends: exit 0
# says: EFBIG

import errno
import os

file = os.open("large", os.O_WRONLY | os.O_CREAT)
try:
    os.truncate(file, 1 << 40)
except OSError as error:
    print(errno.errorcode[error.errno or 0])

# 18. Opens all there is to open.
# limits: open_files=100
# ends: exit 0
# says: EMFILE EMFILE EMFILE EMFILE
# says: the last one was 99

import ctypes
import errno
import os
from collections.abc import Callable

libc = ctypes.CDLL(None, use_errno=True)


def eventfd() -> int:
    fd = libc.eventfd(0, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "eventfd")
    return int(fd)


def until_refused(make: Callable[[], int]) -> str:
    try:
        while True:
            opened.append(make())
    except OSError as error:
        return errno.errorcode[error.errno or 0]


opened: list[int] = []
ends, last = [], 0
for make in (
    lambda: os.open("/dev/null", os.O_RDONLY),
    lambda: os.dup(0),
    eventfd,
    lambda: os.pidfd_open(os.getpid()),
):
    ends.append(until_refused(make))
    last = max(last, *opened)
    while opened:
        os.close(opened.pop())
print(*ends)
print("the last one was", last)

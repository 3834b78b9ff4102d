# 28. Looks for whoever looks after it.
# ends: exit 0
# says: I see only myself
# says: parent: invisible
# says: ENOENT EPERM EPERM
# says in containers: I see [1]
# says in containers: parent: visible
# says in containers: EACCES EPERM EPERM
# ends on gvisor: signal 9
# may say on gvisor:

import contextlib
import errno
import os
import resource
from collections.abc import Callable


def refusal(call: Callable[[], object]) -> str:
    try:
        return repr(call())
    except OSError as error:
        return errno.errorcode[error.errno or 0]


seen = [int(name) for name in os.listdir("/proc") if name.isdigit()]
others = set(seen) - {os.getpid()}
print("I see", sorted(others) or "only myself")
# hidepid leaves out the names, but a path may still be tried.
for number in range(1, 5000):
    with contextlib.suppress(OSError):
        if number != os.getpid():
            print(number, os.readlink(f"/proc/{number}/exe"))
print("parent:", "visible" if os.path.exists(f"/proc/{os.getppid()}") else "invisible")
print(
    refusal(lambda: os.open("/proc/1/environ", os.O_RDONLY)),
    refusal(lambda: os.sched_setaffinity(1, {0})),
    refusal(lambda: resource.prlimit(1, resource.RLIMIT_CPU, (0, 0))),
)

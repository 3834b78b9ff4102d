# Wants more than others: a higher priority, real time, a cpu for itself.
# ends: exit 0
# says: EACCES EPERM EPERM
# says on gvisor: None EINVAL EINVAL

import errno
import os
from collections.abc import Callable


def refusal(call: Callable[[], object]) -> str:
    try:
        return repr(call())
    except OSError as error:
        return errno.errorcode[error.errno or 0]


print(
    refusal(lambda: os.setpriority(os.PRIO_PROCESS, 0, -5)),
    refusal(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
    refusal(lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))),
)

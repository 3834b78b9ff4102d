# 32. Overwrites the program that runs it, by every name that leads there.
# Once upon a time a container's runner could be replaced like this, for all runs to come.
# ends: exit 0
# says: held
import errno
import os
import subprocess
import sys

REFUSALS = (errno.EACCES, errno.EROFS, errno.ETXTBSY)
got_through: list[str] = []


def refused(name: str, reasons: tuple[int, ...] = REFUSALS) -> None:
    for flags in (os.O_WRONLY, os.O_RDWR | os.O_APPEND, os.O_WRONLY | os.O_TRUNC):
        try:
            os.open(name, flags)
            got_through.append(f"{name} opened with {flags}")
        except OSError as error:
            if error.errno not in reasons:
                got_through.append(f"{name}: {error.strerror}")


refused(sys.executable)
refused("/proc/self/exe")
refused(f"/proc/self/fd/{os.open('/proc/self/exe', os.O_PATH)}")
refused("/proc/1/exe", (errno.ENOENT, errno.EACCES))
refused(f"/proc/{os.getppid()}/exe", (errno.ENOENT, errno.EACCES))

# A program that has ended is no longer busy: the file is free to be written, if it were writable.
sleeper = subprocess.Popen(["/bin/sleep", "60"])
held = os.open(f"/proc/{sleeper.pid}/exe", os.O_PATH)
sleeper.kill()
sleeper.wait()
refused(f"/proc/self/fd/{held}", (errno.EACCES, errno.EROFS))

print(*got_through or ["held"], sep="\n")

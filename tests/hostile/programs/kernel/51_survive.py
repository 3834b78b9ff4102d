# 51. Sends the out-of-memory killer to others: when the machine runs out, a box has to go first.
# ends: exit 0
# says: held
# not in containers: whoever may set limits on the machine has to keep it from that: not our daemon
import errno
import os

got_through: list[str] = []
for name, score in (("oom_score_adj", b"0"), ("oom_score_adj", b"-1000"), ("oom_adj", b"0")):
    try:
        os.write(os.open(f"/proc/self/{name}", os.O_WRONLY), score)
        got_through.append(f"{name} took {score!r}")
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EROFS):
            got_through.append(f"{name}: {error.strerror}")
print(*got_through or ["held"], sep="\n")

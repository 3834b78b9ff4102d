# Links, symbolic links and directories: everything that has a name counts as a file.
# limits: files=500
# ends: exit 0
# says: ENOSPC ENOSPC ENOSPC
# says on gvisor: no end no end no end

import errno
import os
from collections.abc import Callable


def make_many(make: Callable[[str], None], remove: Callable[[str], None]) -> str:
    names = [f"hostile-{number}" for number in range(5000)]
    end = "no end"
    try:
        for name in names:
            make(name)
    except OSError as error:
        end = errno.errorcode[error.errno or 0]
    for name in filter(os.path.lexists, names):
        remove(name)
    return end


open("file", "w").close()
print(
    make_many(lambda name: os.link("file", name), os.unlink),
    make_many(lambda name: os.symlink("file", name), os.unlink),
    make_many(os.mkdir, os.rmdir),
)

# 70. Plants compiled modules beside those of the library, for the next program to import.
# ends: exit 0
# says: held
# may say in containers: *: Permission denied
import errno
import os
import site
import sys
import sysconfig

PLACES = {*sys.path, sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sys.prefix,
          os.path.dirname(sys.executable), site.getusersitepackages(),
          "/usr/lib/python3/dist-packages", "/etc/python3"}  # fmt: skip
got_through: list[str] = []


def plant(path: str) -> None:
    try:
        os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
        got_through.append(f"{path} can be made")
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.ENOENT, errno.ENOTDIR):
            got_through.append(f"{path}: {error.strerror}")


for place in PLACES:
    if place and not place.startswith("/workspace"):  # that one is its own
        plant(f"{place}/hostile.pth")
        plant(f"{place}/sitecustomize.py")
        plant(f"{place}/__pycache__/json.cpython-311.pyc")

print(*got_through or ["held"], sep="\n")

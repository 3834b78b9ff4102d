# 36. Starts every setuid program of the system, and one of its own making.
# The loader prints what it was started with and goes no further, unless the kernel has given it
# somebody else's rights: then it ignores such wishes.
# ends: exit 0
# says: held
# may say in containers: * is on a file system that honours setuid
import os
import pathlib
import shutil
import subprocess

ME = str(os.getuid())
got_through: list[str] = []


def started_as(path: str) -> dict[str, str]:
    wishes = ("LD_SHOW_AUXV=1", "LD_TRACE_LOADED_OBJECTS=1")
    shown = subprocess.run(
        ["/usr/bin/timeout", "1", "/usr/bin/env", *wishes, path, "--help"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
    ).stdout.decode(errors="replace")
    facts = dict(line.split(":", 1) for line in shown.splitlines() if line.startswith("AT_"))
    return {name: facts.get(f"AT_{name}", "hidden").strip() for name in ("EUID", "EGID", "SECURE")}


def gives_nothing(path: str) -> None:
    if started_as(path) != {"EUID": ME, "EGID": ME, "SECURE": "0"}:
        got_through.append(f"{path} was started as {started_as(path)}")
    if not os.statvfs(path).f_flag & os.ST_NOSUID:
        got_through.append(f"{path} is on a file system that honours setuid")


gives_nothing("/usr/bin/env")  # control: without the bit it looks like this
mine = shutil.copy("/usr/bin/env", "/workspace/mine")
os.chmod(mine, 0o6755)
gives_nothing(mine)
for folder in ("/usr/bin", "/usr/sbin", "/usr/local/bin"):
    for path in pathlib.Path(folder).iterdir():
        if path.is_file() and path.stat().st_mode & 0o6000 and os.access(path, os.X_OK):
            gives_nothing(str(path))

print(*got_through or ["held"], sep="\n")

"""Runs in a box, as a script: reaches for everything that should be out of reach.

    python probe.py '<bait as JSON>'  ->  {"<control>": [held, "what happened"], …}

Standard library only. What it tries must do no harm where it succeeds: the same script runs on
engines that protect nothing, perhaps as root.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import platform
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

Verdict = tuple[bool, str]

_libc = ctypes.CDLL(None, use_errno=True)
_DEVICES = {"fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout",
            "tty", "urandom", "zero", "mqueue", "core", "console"}  # fmt: skip
_TUNABLES = ("/proc/sys/kernel/hostname", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger")
_GET_NO_NEW_PRIVS = 39  # not every kernel tells of it in /proc
_TEST_NET = "192.0.2.1"  # RFC 5737: an address that belongs to nobody

# Calls that the filter must refuse, with arguments that do nothing: name, number on x86_64 and
# aarch64, arguments, the answer of the filter. Without a filter most get another answer.
_FORBIDDEN: tuple[tuple[str, int, int, tuple[int, ...], int], ...] = (
    ("unshare", 272, 97, (0,), errno.EPERM),
    ("setns", 308, 268, (-1, 0), errno.EPERM),
    ("mount", 165, 40, (0, 0, 0, 0, 0), errno.EPERM),
    ("umount2", 166, 39, (0, 0), errno.EPERM),
    ("open_tree", 428, 428, (-1, 0, 0), errno.EPERM),
    ("fsopen", 430, 430, (0, 0), errno.EPERM),
    ("ptrace", 101, 117, (0, 0, 0, 0), errno.EPERM),
    ("process_vm_readv", 310, 270, (0, 0, 0, 0, 0, 0), errno.EPERM),
    ("kcmp", 312, 272, (0, 0, 0, 0, 0), errno.EPERM),
    ("pidfd_getfd", 438, 438, (-1, 0, 0), errno.EPERM),
    ("bpf", 321, 280, (-1, 0, 0), errno.EPERM),
    ("perf_event_open", 298, 241, (0, 0, -1, -1, 0), errno.EPERM),
    ("userfaultfd", 323, 282, (-1,), errno.EPERM),
    ("keyctl", 250, 219, (0, -3, 0, 0, 0), errno.EPERM),
    ("add_key", 248, 217, (0, 0, 0, 0, 0), errno.EPERM),
    ("name_to_handle_at", 303, 264, (-1, 0, 0, 0, 0), errno.EPERM),
    ("quotactl", 179, 60, (0, 0, 0, 0), errno.EPERM),
    ("clone3", 435, 435, (0, 0), errno.ENOSYS),
    ("io_uring_setup", 425, 425, (1, 0), errno.ENOSYS),
    ("socket(AF_ALG)", 41, 198, (38, 5, 0), errno.EAFNOSUPPORT),
    ("socket(AF_PACKET)", 41, 198, (17, 3, 0), errno.EAFNOSUPPORT),
    ("socket(AF_VSOCK)", 41, 198, (40, 1, 0), errno.EAFNOSUPPORT),
    # The kernel reads 32 bits of it, so a filter that compares 64 is no filter.
    ("ioctl(TIOCSTI)", 16, 29, (0, 0x5412 | 1 << 32, 0), errno.EPERM),
)
_X32_GETPID = 0x40000000 | 39


def mount_namespace(bait: dict[str, Any]) -> Verdict:
    seen = [path for path in bait["hidden"] if _exists(path)]
    if seen:
        return False, f"files of the host can be seen: {', '.join(seen)}"
    if _same_namespace(bait, "mnt"):
        return False, "it is in the host's mount namespace"
    return True, f"{len(bait['hidden'])} files of the host looked for, none found"


def _exists(path: str) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # forbidden, so it is there
    return True


def read_only_root(bait: dict[str, Any]) -> Verdict:
    writable = []
    for directory in bait["read_only"]:
        try:  # a file without a name: nothing stays, should it succeed
            os.close(os.open(directory, os.O_TMPFILE | os.O_RDWR, 0o600))
            writable.append(directory)
        except OSError as error:
            if error.errno != errno.EROFS and not _is_mounted_read_only(directory):
                writable.append(f"{directory} ({_name(error)} only)")
    if writable:
        return False, f"not on a read-only file system: {', '.join(writable)}"
    return True, f"files could not be made in {', '.join(bait['read_only'])} (EROFS)"


def _is_mounted_read_only(directory: str) -> bool:
    """By the kernel's own table: gVisor looks at permissions first, and has no nameless files."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        options = {where: how.split(",") for _, where, _, how, *_ in map(str.split, file)}
    above = directory
    while above not in options and above != "/":
        above = os.path.dirname(above)
    return "ro" in options.get(above, ())


def network_namespace(bait: dict[str, Any]) -> Verdict:
    reached = []
    if _connects(socket.AF_INET, ("127.0.0.1", bait["port"])):
        reached.append("the host's loopback")
    if _connects(socket.AF_UNIX, "\0" + bait["abstract"]):
        reached.append("an abstract socket of the host")
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.connect((_TEST_NET, 9))  # asks for a route, sends nothing
        reached.append("a route to the internet")
    with open("/proc/net/dev", encoding="ascii") as file:
        lines = file.read().splitlines()[2:]  # after the heading
    interfaces = [name for line in lines if (name := line.partition(":")[0].strip()) != "lo"]
    if interfaces:
        reached.append(f"the interfaces {', '.join(interfaces)}")
    if _same_namespace(bait, "net"):
        reached.append("the host's network namespace")
    if reached:
        return False, "it reached " + ", ".join(reached)
    return True, "no loopback or abstract socket of the host, no interface, no route"


def _connects(family: int, address: Any) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(2)
        try:
            client.connect(address)
        except OSError:
            return False
        return True


def pid_namespace(bait: dict[str, Any]) -> Verdict:
    pid = bait["pid"]
    if _same_namespace(bait, "pid"):
        return False, "it is in the host's pid namespace"
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        if file.read().rpartition(")")[2].split()[19] == bait["started"]:
            return False, f"it can see process {pid} of the host"
    visible = sum(name.isdigit() for name in os.listdir("/proc"))
    return True, f"process {pid} of the host is not there; it sees {visible} process(es)"


def ipc_namespace(bait: dict[str, Any]) -> Verdict:
    if _libc.semget(bait["semaphore"], 0, 0) >= 0:
        return False, "it can open a System V semaphore of the host"
    if _same_namespace(bait, "ipc"):
        return False, "it is in the host's ipc namespace"
    return True, "a System V semaphore of the host is not there"


def uts_namespace(bait: dict[str, Any]) -> Verdict:
    if _same_namespace(bait, "uts"):
        return False, f"it is called {socket.gethostname()!r}, as the host is"
    return True, f"it is called {socket.gethostname()!r}"


def user_namespace(bait: dict[str, Any]) -> Verdict:
    if _same_namespace(bait, "user"):
        return False, "it is in the host's user namespace"
    with open("/proc/self/uid_map", encoding="ascii") as file:
        return True, f"ids are mapped ({' '.join(file.read().split())})"


def unprivileged_uid(bait: dict[str, Any]) -> Verdict:
    if 0 in os.getresuid() or 0 in os.getresgid():
        return False, "it runs as root"
    try:
        os.setuid(0)
    except OSError as error:
        return True, f"uid {os.getuid()}; becoming root: {_name(error)}"
    return False, "it could become root"


def no_capabilities(bait: dict[str, Any]) -> Verdict:
    sets = {name: int(_status(name), 16) for name in
            ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}  # fmt: skip
    held = [f"{name} {value:x}" for name, value in sets.items() if value]
    return not held, ", ".join(held) or "inheritable, permitted, effective, bounding, ambient: none"


def no_new_privs(bait: dict[str, Any]) -> Verdict:
    value = _libc.prctl(_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
    return value == 1, f"NoNewPrivs: {value}"


def seccomp_filter(bait: dict[str, Any]) -> Verdict:
    passed = json.loads(_in_child(_forbidden_calls))
    if passed:
        return False, "not refused: " + ", ".join(passed)
    if _status("Seccomp") != "2":
        return False, f"Seccomp: {_status('Seccomp')}"
    foreign = ""
    if platform.machine() == "x86_64":
        if _in_child(lambda: str(_libc.syscall(_X32_GETPID))) != f"signal {signal.SIGSYS}":
            return False, "a system call of another architecture did not kill it"
        foreign = ", x32 kills"
    return True, f"{len(_FORBIDDEN)} forbidden system calls refused{foreign}"


def _forbidden_calls() -> str:
    passed = []
    for name, x86_64, aarch64, arguments, expected in _FORBIDDEN:
        number = x86_64 if platform.machine() == "x86_64" else aarch64
        answer = _libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
        if answer != -1 or ctypes.get_errno() != expected:
            passed.append(name)
    return json.dumps(passed)


def landlock(bait: dict[str, Any]) -> Verdict:
    layers = _in_child(_landlock_layers)
    if layers == "0":
        return False, "not in this kernel"
    # The kernel stacks 16 of them (64 in its first versions). One that is taken is one less.
    if layers in {"16", "64"}:
        return False, "no rules are in place"
    return True, f"rules are in place ({layers} more layers can be added to them)"


def _landlock_layers() -> str:
    _libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS, which it insists on
    rights = ctypes.c_uint64(1)
    rules = _libc.syscall(ctypes.c_long(444), ctypes.byref(rights), ctypes.c_size_t(8), 0)
    count = 0
    while rules >= 0 and count < 100 and _libc.syscall(ctypes.c_long(446), rules, 0) == 0:
        count += 1
    return str(count)


def inherited_descriptors(bait: dict[str, Any]) -> Verdict:
    extra = sorted(set(bait["fds"]) - {"0", "1", "2"})
    return not extra, f"open beside stdin, stdout and stderr: {', '.join(extra) or 'none'}"


def devices(bait: dict[str, Any]) -> Verdict:
    others = sorted(set(os.listdir("/dev")) - _DEVICES)
    if others:
        return False, f"/dev has {len(others)} more, such as {', '.join(others[:4])}"
    return True, f"/dev has {' '.join(sorted(os.listdir('/dev')))}"


def kernel_settings(bait: dict[str, Any]) -> Verdict:
    opened = []
    for path in _TUNABLES:
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_WRONLY))  # and nothing is written
            opened.append(path)
    if opened:
        return False, f"writable: {', '.join(opened)}"
    return True, f"not writable: {', '.join(_TUNABLES)}"


def _same_namespace(bait: dict[str, Any], kind: str) -> bool:
    """The host has such namespaces. Where there are none, another kernel runs."""
    try:
        ours = os.readlink(f"/proc/self/ns/{kind}")
    except FileNotFoundError:
        return False
    return bool(ours == bait["namespaces"][kind])


def _status(field: str) -> str:
    with open("/proc/self/status", encoding="utf-8") as file:
        lines = dict(line.split(":", 1) for line in file if ":" in line)
    return lines.get(field, "0").strip()


def _name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, str(error))


def _in_child(work: Callable[[], str]) -> str:
    """What `work` returns in a child, whose state may be ruined by it; or how the child died."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            os.write(writer, work().encode())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as pipe:
        said = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return said if code >= 0 else f"signal {-code}"


CONTROLS: tuple[Callable[[dict[str, Any]], Verdict], ...] = (
    mount_namespace, read_only_root, network_namespace, pid_namespace, ipc_namespace,
    uts_namespace, user_namespace, unprivileged_uid, no_capabilities, no_new_privs,
    seccomp_filter, inherited_descriptors, devices, kernel_settings, landlock,
)  # fmt: skip
NAMES = {"read_only_root": "read-only root", "no_new_privs": "no_new_privs"}


def main() -> None:
    # The descriptor of the listing itself is in the list, and gone by now.
    fds = [name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")]
    bait = json.loads(sys.argv[1]) | {"fds": fds}
    found: dict[str, Any] = {"environment": dict(os.environ)}
    for control in CONTROLS:
        name = NAMES.get(control.__name__, control.__name__.replace("_", " "))
        try:
            found[name] = control(bait)
        except Exception as error:
            found[name] = (False, f"the trial itself failed: {error!r}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()

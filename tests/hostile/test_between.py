"""What one run leaves must not be there for the next."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

import pytest

from coderunner import Runner
from coderunner.model import File, Limits, Program
from tests.hostile.arena import Arena
from tests.hostile.attack import attacks
from tests.hostile.conftest import ENGINES, WARM_CONTAINERS

pytestmark = pytest.mark.hostile

WHERE_TRACES_COULD_BE = pytest.mark.parametrize("arena", [*ENGINES, WARM_CONTAINERS], indirect=True)

# Prints a dictionary: all a program can see of a world in which it might not be the first.
LOOK = r"""
import os, pathlib, resource, socket, stat

def names(*tops):
    found = []
    for top in tops:
        for folder, folders, files in os.walk(top):
            found += [os.path.join(folder, name) for name in (*folders, *files)]
    return sorted(found)

def lines(path):  # gVisor has not all of them
    return pathlib.Path(path).read_text().splitlines() if os.path.exists(path) else []

def facts(path):
    status = os.stat(path)
    return status.st_mode, status.st_mtime_ns, status.st_atime_ns, pathlib.Path(path).read_bytes()

print({
    "temp": names("/tmp", "/var/tmp"),
    "memory": names("/dev/shm"),
    "workspace": names("/workspace"),
    "sockets": [line.split()[-1] for line in lines("/proc/net/unix") if "@" in line],
    "ports": [line.split()[1] for line in lines("/proc/net/tcp")[1:]],
    "System V": [len(lines(f"/proc/sysvipc/{kind}")) for kind in ("shm", "sem", "msg")],
    "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
    "etc": {name: facts(f"/etc/{name}") for name in ("passwd", "hosts", "nsswitch.conf")},
    "mask": os.umask(0o22),
    "host": socket.gethostname(),
    "environment": dict(os.environ),
    "limits": [resource.getrlimit(kind) for kind in range(16)],
    "niceness": os.nice(0),
    "locks": [line for line in lines("/proc/locks") if line.split()[4] != "-1"],  # outside of here
})
"""

# Leaves a trace of every kind, and somebody who is to keep it alive.
LEAVE = r"""
import ctypes, fcntl, os, pathlib, resource, signal, socket, sys, time
libc = ctypes.CDLL(None)
for folder in ("/tmp", "/dev/shm", "/workspace"):
    for name in ("hostile-file", "sitecustomize.py", ".config/python/startup", "lib/x.pth",
                 "__pycache__/main.cpython-311.pyc", ".local/lib/python3.11/site-packages/a.pth"):
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("import os; os._exit(7)\n")
for path in ("/etc/passwd", "/etc/hosts", "/etc/nsswitch.conf"):
    pathlib.Path(path).read_bytes()
    try:
        os.utime(path)
    except OSError:
        pass
for call in (libc.shmget, libc.msgget):  # refused where nothing can count them
    call(77, *((4096, 0o1666) if call is libc.shmget else (0o1666,)))
libc.semget(77, 1, 0o1666)
abstract = socket.socket(socket.AF_UNIX)
abstract.bind("\0hostile-socket")
abstract.listen()
port = socket.create_server(("127.0.0.1", 7777))
lock = os.open("/workspace/hostile-file", os.O_RDWR)
fcntl.flock(lock, fcntl.LOCK_EX)
os.environ["PYTHONPATH"] = "/tmp"
os.umask(0)
os.nice(5)
resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.close(1), os.close(2)
        time.sleep(60)
"""
# What LEAVE cannot change is only here to show that it could not.
UNCHANGEABLE = {"etc", "host", "locks"}


async def look(arena: Arena, before: str = "") -> dict[str, Any]:
    result = await arena.text(before + LOOK)
    assert result.ok, result.stderr
    found: dict[str, Any] = ast.literal_eval(result.stdout)
    if arena.in_containers:  # Docker writes a new one for each, and the machine's locks can be seen
        del found["locks"], found["etc"]["hosts"]
    return found


@WHERE_TRACES_COULD_BE
async def test_69_and_71_the_next_run_is_blank(arena: Arena) -> None:
    blank = await look(arena)
    counted = {"System V"} if arena.sampled else set()
    for _ in range(4):  # more than there are boxes made ahead
        left = await look(arena, LEAVE)
        changed = {kind for kind in blank if left[kind] != blank[kind]}
        assert changed - UNCHANGEABLE == blank.keys() - UNCHANGEABLE - counted
        assert await look(arena) == blank


# Everything else that a container is made for is as in `look`.
SAME_CONTAINER = {
    name: getattr(Limits(), name)
    for name in ("memory_mb", "processes", "disk_mb", "files", "open_files", "stack_mb", "cpus")
}
# What takes a lot of something, or stays in the way.
NASTY = (
    "resources/01_allocate.py", "resources/03_fork_bomb.py", "resources/06_fill_shm.py",
    "resources/09_names.py", "processes/21_chain_of_daemons.py",
    "processes/23_cannot_be_interrupted.py",
)  # fmt: skip


@pytest.mark.parametrize("arena", [WARM_CONTAINERS], indirect=True)
async def test_71_after_an_attack_a_container_is_blank(arena: Arena) -> None:
    blank = await look(arena)
    for attack in attacks():
        if attack.id in NASTY:
            result = await arena.run(attack.program, limits=attack.limits.but(SAME_CONTAINER))
            assert result.execution is not None
            assert result.execution.warm
            assert await look(arena) == blank, attack.id


@WHERE_TRACES_COULD_BE
async def test_69_two_runs_of_one_build_share_nothing(arena: Arena) -> None:
    source = """
import os, pathlib
print(sorted(os.listdir()), pathlib.Path("data").read_text())
for name in ("main.py", "data", "new", "json.py"):
    pathlib.Path(name).write_text("print('poisoned')")
os.chmod(".", 0)
"""
    files = (File("main.py", source.encode()), File("data", b"good"))
    async with arena.runner.build(Program("python", files)) as build:
        for _ in range(3):
            result = await build.run()
            assert result.stdout == "['data', 'main.py'] good\n", result.stderr


@WHERE_TRACES_COULD_BE
async def test_69_a_program_cannot_change_its_own_binary_for_the_next_run(arena: Arena) -> None:
    source = rb"""
#include <stdio.h>
#include <unistd.h>
int main(int count, char **names) {
    puts("clean");
    unlink(names[0]);
    FILE *file = fopen(names[0], "w");
    fputs("#!/bin/sh\necho poisoned\n", file);
    fchmod(fileno(file), 0755);
}
"""
    async with arena.runner.build(Program("c", (File("main.c", source),))) as build:
        assert build.compilation is not None
        assert build.compilation.ok, build.compilation.stderr.text
        for _ in range(3):
            assert (await build.run()).stdout == "clean\n"


# A language with something that is made once and shared by all, as Go's compiled library is.
POISONED = """
name = "poisoned"
title = "Poisoned"
extensions = [".poison"]
source = "main.poison"
compile = ["/bin/sh", "-c", "{attack}", "{main}"]
artifacts = ["program"]
run = ["/bin/sh", "-c", "{attack}", "{main}"]
version = ["/bin/sh", "-c", "echo 1"]
version_pattern = '.+'
hello = "x"

[env]
SHARED = "{shared}"

[scripts]
make = "mkdir prepared/d; echo good > prepared/value; echo good > prepared/d/value"
attack = '''
cat /prepared/shared/value /prepared/shared/d/value
cd /prepared/shared
printf '%s\n' *
echo bad > value; mv d e; echo bad > new; rm -f e/value; ln -s / link; chmod 0 e
cp /bin/sh setuid; chmod 6755 setuid; mkfifo fifo
touch /workspace/program
if [ "$(cat value)" = bad ]; then echo changed; fi
'''

[tools.sh]
names = ["sh"]
apt = "dash"

[prepare.shared]
read_only = {read_only}
target = "/prepared/shared"
argv = ["/bin/sh", "-c", "{make}"]
"""


async def test_70_what_is_shared_cannot_be_poisoned(arena: Arena, tmp_path: Path) -> None:
    languages, cache = tmp_path / "languages", tmp_path / "cache"
    languages.mkdir()
    # In containers that is all there is, and nothing can even seem to be changed.
    read_only = str(arena.in_containers).lower()
    text = POISONED.replace("{read_only}", read_only)
    (languages / "poisoned.toml").write_text(text)
    settings = arena.runner.settings.model_copy(
        update={"languages_dir": languages, "cache_dir": cache}
    )
    program = Program("poisoned", (File("main.poison", b"x"),))
    clean = "good\ngood\nd\nvalue\n" + ("" if arena.in_containers else "changed\n")
    async with Runner.open(settings) as runner:
        for _ in range(3):
            result = await runner.run(program)
            assert result.compilation is not None
            assert (result.compilation.stdout.text, result.stdout) == (clean, clean), result.stderr
    [place] = (cache / "prepared").iterdir()
    found = {str(path.relative_to(place)) for path in place.rglob("*")}
    assert found == {"value", "d", "d/value"}
    assert (place / "value").read_text() == (place / "d/value").read_text() == "good\n"


@WHERE_TRACES_COULD_BE
async def test_67_the_input_of_one_run_is_nowhere_in_another(arena: Arena) -> None:
    """For judging by stdin and stdout: what comes later is not there yet, what was is gone."""
    source = """
import os, pathlib, sys
given = sys.stdin.read()
found = []
for top in ("/workspace", "/tmp", "/dev", "/etc", "/var", "/proc"):
    for folder, _, files in os.walk(top):
        for name in files:
            path = pathlib.Path(folder, name)
            try:
                if not path.is_file():
                    continue
                with path.open("rb", buffering=0) as file:
                    content = file.read(1 << 20)
            except (OSError, ValueError):
                continue
            if any(word in content for word in (b"input-%d-" % n for n in range(9))):
                found.append(str(path))
found += [name for name, value in os.environ.items() if "input-" in value]
print(given, [name for name in found if name != "/workspace/main.py"])
pathlib.Path("/tmp/given").write_text(given)
"""
    inputs = [f"input-{number}-{os.urandom(8).hex()}" for number in range(3)]
    async with arena.runner.build(Program("python", (File("main.py", source.encode()),))) as build:
        for given in inputs:
            result = await build.run(stdin=given.encode())
            assert result.stdout == f"{given} []\n", result.stderr

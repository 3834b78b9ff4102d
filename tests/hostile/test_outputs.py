"""Files that programs leave for the caller to collect, and what they print: both can be traps."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

import pytest

from coderunner.model import File, Limits, Program, Result
from coderunner.workspace import Workspace
from tests.hostile.arena import Arena
from tests.hostile.conftest import ON_THE_HOSTS_KERNEL

pytestmark = pytest.mark.hostile

PRELUDE = """
import os, socket, stat, sys
def put(name, content=b"mine"):
    with open(name, "wb") as file:
        file.write(content)
put("real")
"""


async def left_by(arena: Arena, source: str, **limits: float) -> dict[str, bytes]:
    """What is collected of a program's files, without its source."""
    result = await collected(arena, source, **limits)
    assert result.ok, result.stderr
    names = [file.name for file in result.files]
    assert len(names) == len(set(names))
    for name in names:  # nobody who writes these down somewhere ends up anywhere else
        assert not PurePosixPath(name).is_absolute()
        assert not {"", ".", ".."} & {*name.split("/")}
    return {file.name: file.content for file in result.files if file.name != "main.py"}


async def collected(arena: Arena, source: str, **limits: float) -> Result:
    program = Program("python", (File("main.py", (PRELUDE + source).encode()),))
    return await arena.run(program, limits=Limits().but(limits), collect=["**"])


NOTHING_TO_SEE = {
    "72 links to files": """
for number, path in enumerate(["/etc/passwd", "/etc/shadow", "/proc/self/environ", "/dev/zero",
                               "/proc/self/fd/0", "../../etc/passwd", "real", "nothing", "loop"]):
    os.symlink(path, f"link{number}")
os.symlink("loop", "loop")
""",
    "73 links to directories": """
for number, path in enumerate(["/", "/etc", "/proc", "/usr/share", ".", "..", "/proc/self/root"]):
    os.symlink(path, f"link{number}")
os.mkdir("d")
os.symlink("..", "d/up")
""",
    "74 pipes, sockets, devices": """
os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("stream")
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind("datagram")
os.mknod("device", stat.S_IFCHR | 0o666, os.makedev(0, 0))  # the only one that anybody may make
""",
    "74 a pipe that somebody waits at": """
os.mkfifo("fifo")
if os.fork() == 0:
    os.close(1), os.close(2)
    os.open("fifo", os.O_RDWR)
    os.open("fifo", os.O_WRONLY)
    os.pause()
""",
    "names of the host's files": """
for name in ("/usr/bin/env", "/etc/passwd", "/dev/null"):
    try:
        os.link(name, "second-name")
    except OSError:
        pass
""",
    "directories only": """
os.makedirs("a/b/c")
os.mkdir("real.d")
""",
}


@pytest.mark.parametrize("trap", NOTHING_TO_SEE)
async def test_only_files_of_its_own(arena: Arena, trap: str) -> None:
    assert await left_by(arena, NOTHING_TO_SEE[trap]) == {"real": b"mine"}


async def test_72_a_link_with_the_name_that_is_asked_for(arena: Arena) -> None:
    source = "import os; os.symlink('/etc/passwd', 'out'); os.symlink('/etc', 'dir')"
    program = Program("python", (File("main.py", source.encode()),))
    for pattern in ("out", "dir/passwd", "dir/**", "*"):
        result = await arena.run(program, collect=[pattern])
        assert {file.name for file in result.files} <= {"main.py"}


async def test_75_strange_names(arena: Arena) -> None:
    names = [b"new\nline", b"\x1b[31mred\x1b]0;title\x07", b"\xff\xfe invalid", b"\xed\xa0\x80",
             b"..\\..\\up", b"...", b".. ", b" ", b"-rf", b"~", b"$HOME", b"`id`", b"*", b"[a]",
             b"C:", b"a\tb", b"\x7f", "\u202egnp.exe".encode(), "\uff0e\uff0e".encode(),
             b"%2e%2e", b"'\"", b"x" * 255, b".hidden", b"real/..x"[5:]]  # fmt: skip
    found = await left_by(arena, f"for name in {names!r}: put(name, name)")
    assert {os.fsencode(name): content for name, content in found.items()} == {
        b"real": b"mine",
        **{name: name for name in names},
    }


async def test_75_collected_names_can_be_printed_and_stored(arena: Arena) -> None:
    result = await collected(arena, r"put(b'\xff\n\x1b[31m')")
    [strange] = [file for file in result.files if file.name not in ("main.py", "real")]
    assert ascii(strange.name) == r"'\udcff\n\x1b[31m'"
    with Workspace() as workspace:
        workspace.add(result.files)
        assert b"\xff\n\x1b[31m" in os.listdir(os.fsencode(workspace.path))


async def test_rights_stay_behind(arena: Arena) -> None:
    source = "put('setuid'); os.chmod('setuid', 0o6777); os.setxattr('real', 'user.x', b'1')"
    result = await collected(arena, source)
    with Workspace() as workspace:
        workspace.add(result.files)
        mode = (workspace.path / "setuid").stat().st_mode
        assert mode & 0o7777 == 0o755
        assert os.listxattr(workspace.path / "real") == []


async def test_files_that_nobody_may_read(arena: Arena) -> None:
    """Whether the caller may depends on who it is. That it gets the others does not."""
    source = """
put("secret"); os.chmod("secret", 0)
os.mkdir("shut"); put("shut/inner"); os.chmod("shut", 0)
"""
    found = await left_by(arena, source)
    assert found.pop("real") == b"mine"
    assert set(found) <= {"secret", "shut/inner"}
    assert set(found.values()) <= {b"mine"}


@pytest.mark.parametrize("mode", ["0", "0o222", "0o444", "0o1000"])
async def test_a_workspace_that_is_shut(arena: Arena, mode: str) -> None:
    found = await left_by(arena, f"os.chmod('.', {mode})")
    assert set(found.values()) <= {b"mine"}


async def test_directories_as_deep_as_can_be(arena: Arena) -> None:
    source = """
for level in range(3_000):
    os.mkdir("d")
    os.chdir("d")
    if level in (5, 100):
        put("file")
put("bottom")
"""
    assert await left_by(arena, source) == {"real": b"mine", "d/" * 6 + "file": b"mine"}


async def test_sparse_files(arena: Arena) -> None:
    """A terabyte is more than one may have, and many that are allowed are too much together."""
    source = """
import errno, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open("huge", "wb") as file:
    try:
        file.truncate(1 << 40)
    except OSError as error:
        assert error.errno == errno.EFBIG
for number in range(20):
    with open(f"sparse{number:02}", "wb") as file:
        file.truncate(1 << 20)
"""
    found = await left_by(arena, source, disk_mb=2)
    assert found.pop("huge") == b""
    assert found.pop("real") == b"mine"
    assert sum(map(len, found.values())) <= 2 << 20
    assert set(found.values()) <= {bytes(1 << 20)}


async def test_one_file_with_many_names(arena: Arena) -> None:
    source = """
put("first", bytes(1 << 20))
for number in range(500):
    os.link("first", f"name{number}")
"""
    found = await left_by(arena, source, disk_mb=3)
    assert sum(map(len, found.values())) <= 3 << 20


@ON_THE_HOSTS_KERNEL
async def test_more_files_than_one_may_have(arena: Arena) -> None:
    source = """
import errno
try:
    for number in range(100_000):
        put(f"{number}", b"")
except OSError as error:
    assert error.errno == errno.ENOSPC
"""
    found = await left_by(arena, source, files=3000)
    assert 2900 < len(found) <= 3000


RACE = """
if os.fork() == 0:
    os.close(1), os.close(2)
    put("target.new")
    os.mkdir("directory")
    while True:
        for make in (lambda: os.symlink("/etc/passwd", "x"), lambda: put("x"),
                     lambda: os.mkfifo("x"), lambda: os.symlink("/etc", "x"),
                     lambda: os.mkdir("x")):
            make()
            if os.path.isdir("target") and not os.path.islink("target"):
                os.rmdir("target")
            elif os.path.isdir("x") and not os.path.islink("x") and os.path.lexists("target"):
                os.unlink("target")
            os.rename("x", "target")
while not os.path.lexists("target"):
    pass
"""


async def test_a_file_that_keeps_changing_its_kind(arena: Arena) -> None:
    """Whoever changes it is dead by the time it is collected: it is what it is."""
    for _ in range(5):
        found = await left_by(arena, RACE)
        assert found.keys() >= {"real"}
        assert set(found.values()) <= {b"", b"mine"}  # it may have died while it wrote


STRANGE_OUTPUT = [
    bytes(range(256)),
    b"\0" * 1000,
    b"\xff\xfe\xed\xa0\x80\xc0\x80\xf8\x88\x80\x80\x80",
    b"\x1b[2J\x1b]0;owned\x07\x1b[6n\x9b31m",
    b"\xe2\x82",  # the beginning of a character
    b"\r\n\x85\xe2\x80\xa8\x0c\x0b",
    "\u202e\ufeff\u200b\U000e0001".encode(),
]


@pytest.mark.parametrize("output", STRANGE_OUTPUT, ids=lambda output: repr(output[:8]))
async def test_76_every_byte_that_is_printed(arena: Arena, output: bytes) -> None:
    source = f"import os; os.write(1, {output!r}); os.write(2, {output!r})"
    result = await arena.text(source)
    assert (result.outcome.stdout.data, result.outcome.stderr.data) == (output, output)
    assert result.stdout.encode().decode() == result.stdout  # text that can be passed on

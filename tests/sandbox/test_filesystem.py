"""Files that a sandbox brings, and files that it gives back."""

from __future__ import annotations

import pytest

from coderunner import InvalidInput, Limits
from coderunner.sandbox import Sandbox
from tests.support import require_toolchain

pytestmark = pytest.mark.engines

ENGINES = pytest.mark.parametrize("engine", ["linux", "process"])


@ENGINES
def test_files_lie_where_open_finds_them(engine: str) -> None:
    sandbox = Sandbox(filesystem={"a.txt": "ä", "b/c/d.bin": b"\0\xff"}, engine=engine)
    result = sandbox.run("print(open('a.txt').read(), open('b/c/d.bin', 'rb').read())")
    assert result.stdout == "ä b'\\x00\\xff'\n"


def test_each_run_has_fresh_ones() -> None:
    sandbox = Sandbox(filesystem={"a.txt": "old"})
    sandbox.run("open('a.txt', 'w').write('new'); open('b.txt', 'w')")
    result = sandbox.run("import glob; print(open('a.txt').read(), glob.glob('*.txt'))")
    assert result.stdout == "old ['a.txt']\n"


@pytest.mark.parametrize(
    "name",
    ["../x", "a/../../x", "/etc/x", "a\0b", "", ".", "a//b", "a/", "x" * 300, "\ud800"],
)
def test_names_that_lead_elsewhere(name: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        Sandbox(filesystem={"good.txt": "", name: "x"})
    assert "file" in str(caught.value)


def test_two_files_in_each_others_way() -> None:
    with pytest.raises(ValueError, match="both a file and the directory"):
        Sandbox(filesystem={"a": "", "a/b": ""})


def test_a_name_that_the_program_has() -> None:
    sandbox = Sandbox(filesystem={"main.py": "print('not me')"})
    with pytest.raises(ValueError, match=r"two files are named 'main\.py'"):
        sandbox.run("print('me')")
    require_toolchain("bash")
    assert sandbox.run("cat main.py", "bash").stdout == "print('not me')"


def test_a_name_that_the_compiler_gives() -> None:
    require_toolchain("c")
    with pytest.raises(ValueError, match="'program' is the name of what the compiler makes of C"):
        Sandbox(filesystem={"program": "data"}).run("int main(void) { return 0; }", "c")
    assert Sandbox(filesystem={"program": "data"}).run("print(open('program').read())").ok


@pytest.mark.parametrize("wrong", [5, "a.txt", ["a.txt"], [("a.txt", "x")]])
def test_what_is_no_filesystem(wrong: object) -> None:
    with pytest.raises(InvalidInput, match="filesystem must be a dict"):
        Sandbox(filesystem=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [5, None, [1], b"a", ["../a"], "/etc/*", ""])
def test_what_is_no_pattern(wrong: object) -> None:
    with pytest.raises(InvalidInput, match=r"collect must be patterns|is not a pattern"):
        Sandbox().run("1", collect=wrong)  # type: ignore[arg-type]


def test_content_that_is_none() -> None:
    with pytest.raises(ValueError, match="must be text or bytes"):
        Sandbox(filesystem={"a": 1})  # type: ignore[dict-item]


def test_what_is_given_later_does_not_count() -> None:
    files: dict[str, str | bytes] = {"a": "1"}
    sandbox = Sandbox(filesystem=files)
    files["../b"] = "2"
    assert sandbox.run("print(open('a').read())").stdout == "1\n"


@ENGINES
def test_files_come_back_by_glob(engine: str) -> None:
    code = """
import pathlib
pathlib.Path("out/deep").mkdir(parents=True)
pathlib.Path("out/a.txt").write_text("A")
pathlib.Path("out/deep/b.bin").write_bytes(bytes([0, 255]))
pathlib.Path("c.txt").write_text("C")
"""
    result = Sandbox(engine=engine).run(code, collect=["**/*.bin", "*.txt"])
    assert result.files == {"out/deep/b.bin": b"\x00\xff", "c.txt": b"C"}
    assert Sandbox(engine=engine).run(code).files == {}


@ENGINES
def test_links_and_devices_do_not_come_back(engine: str) -> None:
    code = """
import pathlib
os = __import__("o" + "s")
pathlib.Path("link").symlink_to("/etc/passwd")
pathlib.Path("loop").symlink_to(".")
os.mkfifo("pipe")
pathlib.Path("real").write_text("x")
"""
    sandbox = Sandbox(allowed_imports=["*"], engine=engine)
    result = sandbox.run(code, collect=["**"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert {name for name in result.files if name != "main.py"} == {"real"}


def test_what_comes_back_is_bounded() -> None:
    sandbox = Sandbox(limits=Limits(disk_mb=8))
    code = "open('{0}', 'wb').truncate({1} << 20)\n"
    fits = sandbox.run(code.format("a", 7), collect="a")
    assert len(fits.files["a"]) == 7 << 20
    too_large = sandbox.run(code.format("a", 9), collect="a")
    assert "File too large" in too_large.stderr
    together = sandbox.run("".join(code.format(n, 5) for n in "abc"), collect="?")
    assert sum(map(len, together.files.values())) <= 8 << 20

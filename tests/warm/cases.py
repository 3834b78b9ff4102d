"""The programs that are run cold and warm, and what each of them is given.

Most are files of `programs/`. Those that no editor would like, and those that consist of several
files, are written down here.
"""

# ruff: noqa: E501 - a source is one value, however long

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coderunner import File, Program

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Case:
    """A program, its arguments and its input. The first of its files is what is run."""

    name: str
    files: Mapping[str, bytes]
    args: Sequence[str] = ()
    stdin: bytes | None = None

    @property
    def program(self) -> Program:
        files = tuple(File(name, content) for name, content in self.files.items())
        return Program(language="python", files=files, args=tuple(self.args))


# Arguments and input of the programs in the folder.
GIVEN: dict[str, tuple[Sequence[str], bytes | None]] = {
    "arguments": (
        ["one", "", "zwei drei", "grün", "名前", "\udcff\udc80", "-x", "--", "last\n"],
        None,
    ),
    "input_lines": ([], b"first\nsecond\r\nthird\nfourth\nfifth\nsixth\nthe rest\nof it"),
    "input_bytes": ([], b"\x00\xff\xfe\x80ab\xc3\xbc\xff\xe2\x82 end"),
    "descriptors": ([], b"something"),
}

_LOOK = b"import sys\nprint(list(sys.modules))\nimport json, random, re\nprint(json, random, re)\n"

WRITTEN_HERE = (
    Case("empty", {"main.py": b""}),
    Case("only a comment", {"main.py": b"# nothing"}),
    Case("syntax error", {"main.py": b"print(1)\n\ndef f(:\n    pass\n"}),
    Case("indentation error", {"main.py": b"if True:\nprint(1)\n"}),
    Case("tab error", {"main.py": b"if 1:\n\tx = 1\n        y = 2\n"}),
    Case("unclosed string", {"main.py": b'x = """never\nclosed\n'}),
    Case("latin-1 with a cookie", {"main.py": b"# coding: latin-1\nprint(ascii('gr\xfc\xdf'))\n1/0 # \xfc\n"}),
    Case("latin-1 without a cookie", {"main.py": b"print('gr\xfc\xdf')\n"}),
    Case("unknown encoding", {"main.py": b"# coding: klingon\nprint(1)\n"}),
    Case("byte order mark", {"main.py": b"\xef\xbb\xbfprint(__file__)\n1/0\n"}),
    Case("nul byte", {"main.py": b"print(1)\nx = '\0'\n"}),
    Case("windows line ends", {"main.py": b"def f():\r\n    1/0\r\n\r\nprint(1)\r\nf()\r\n"}),
    Case("old mac line ends", {"main.py": b"print(1)\rprint(2)\r1/0\r"}),
    Case("no line end", {"main.py": b"print(1); raise ValueError"}),
    Case("form feed and tabs", {"main.py": b"\x0cif 1:\n\tprint('x')\n\x0c\nprint(2)"}),
    Case("a long line", {"main.py": b"x = [" + b"1, " * 50_000 + b"]\nprint(len(x)); 1/0\n"}),
    Case("many lines", {"main.py": b"x = 1\n" * 50_000 + b"raise ValueError(x)\n"}),
    Case("deeply nested", {"main.py": b"x = " + b"(" * 300 + b")" * 300 + b"\n"}),
    Case("future import", {"main.py": b"from __future__ import annotations\nx: nope = 1\nprint(__annotations__)\n"}),
    Case("unknown future", {"main.py": b"from __future__ import braces\n"}),
    Case("bytecode as main", {"main.py": b"\xa7\x0d\x0d\x0a" + b"\0" * 12}),
    Case("a zip as main", {"main.py": b"PK\x03\x04 but not really"}),
    *(
        Case(f"own {name}", {"main.py": _LOOK, f"{name}.py": b"print('mine:', __name__)\nrandom = loads = 1\n"})
        for name in (
            "random", "json", "string", "typing", "enum", "time", "site", "os", "sitecustomize",
            "usercustomize", "_json", "_decimal", "copyreg", "msvcrt", "boxes", "main2",
        )
    ),
    Case("own package json", {"main.py": _LOOK, "json/__init__.py": b"print('mine')\n"}),
    Case("own folder random", {"main.py": _LOOK, "random/data.txt": b"no module\n"}),
    Case("own module for a module", {
        "main.py": b"import json\nprint(json.loads('[1]'))\n",
        "re.py": b"print('not the real one')\ndef compile(*args): return None\nVERBOSE = MULTILINE = DOTALL = 0\n",
    }),
    Case("main in a folder", {
        "src/app.py": b"import sys, os\nprint(sys.argv, sys.path, __file__, os.getcwd())\nimport helper, json\n1/0\n",
        "src/helper.py": b"print(__file__)\n",
        "src/json.py": b"print('beside main')\n",
        "random.py": b"print('not beside main')\n",
    }),
    Case("main with another name", {"solution.py": b"import sys\nprint(sys.argv, sys.orig_argv, __file__)\n1/0\n"}),
    Case("a package of its own", {
        "main.py": b"from app.core import run\nrun()\n",
        "app/__init__.py": b"",
        "app/core.py": b"from . import data\nimport json\ndef run():\n    print(json.dumps(data.x)); data.fail()\n",
        "app/data.py": b"x = [1]\ndef fail():\n    raise RuntimeError('deep inside')\n",
    }),
    Case("packages of the user", {
        "main.py": b"import sys, site\nprint(sys.path, site.ENABLE_USER_SITE)\nimport mine\n",
        ".local/lib/python3.11/site-packages/mine.py": b"print('from the user site')\n",
        ".local/lib/python3.12/site-packages/mine.py": b"print('from the user site')\n",
        ".local/lib/python3.13/site-packages/mine.py": b"print('from the user site')\n",
        ".local/lib/python3.14/site-packages/mine.py": b"print('from the user site')\n",
    }),
)  # fmt: skip


def cases() -> Iterator[Case]:
    for path in sorted(PROGRAMS.glob("*.py")):
        args, stdin = GIVEN.get(path.stem, ((), None))
        yield Case(path.stem, {"main.py": path.read_bytes()}, args, stdin)
    yield from WRITTEN_HERE

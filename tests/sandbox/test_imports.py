"""Which imports are blocked: read from the syntax, before anything is run."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from coderunner import InvalidInput
from coderunner.sandbox import Sandbox
from coderunner.sandbox.import_policy import ImportPolicy
from coderunner.sandbox.imports import imports_of

UNIT = pytest.mark.unit


def objection(
    code: str | bytes, allowed: list[str] | None = None, files: tuple[str, ...] = ()
) -> str:
    return ImportPolicy.of(allowed).objection(imports_of(code) or (), files)


BLOCKED: list[str | bytes] = [
    "import os",
    "import os.path as p",
    "import math, os",
    "import json as os, socket as json",
    "from os import path",
    "from os.path import join",
    "from subprocess import run as r",
    "def f():\n    import shutil",
    "class C:\n    from sys import exit",
    "try:\n    import os\nexcept ImportError:\n    pass",
    "if False:\n    import os",
    "lambda: __import__('os')",
    "__import__('os').system('ls')",
    "__import__(name='os')",
    "__import__('o' + 's')",
    "__import__(f'o{\"s\"}')",
    "__import__(input())",
    "imp = __import__\nimp('os')",
    "[__import__][0]('os')",
    "import importlib\nimportlib.import_module('os')",
    "import importlib as i\ni.import_module('subprocess')",
    "from importlib import import_module\nimport_module('os')",
    "from importlib import import_module as load\nload('os')",
    "from importlib import import_module as load\nfind = load",
    "import importlib\nimportlib.__import__('os')",
    "import builtins\nbuiltins.__import__('os')",
    "getattr(__builtins__, '__import__')('os')",
    "import importlib\ngetattr(importlib, 'import_module')('os')",
    "__builtins__['__import__']('os')",
    "exec('import os')",
    "exec('  import os')",
    "exec(b'import os')",
    "eval('__import__(\"os\")')",
    "exec(compile('import os', 'x', 'exec'))",
    "exec('exec(\"import os\")')",
    "import pathlib\npathlib.os.system('ls')",
    "import random as r\nr._os.listdir()",
    "from pathlib import os",
    "from random import _os as o",
    "import logging.handlers\nlogging.handlers.socket",
    "import posix",
    "import _socket",
    "import ｏｓ",  # noqa: RUF001 - Python takes these letters for the others
    "import os; import syntax_is_fine",
    "from importlib import *\nimport_module('os')",
    "from fileinput import *\nos.getcwd()",
    "(f := __import__)('os')",
    "@__import__\ndef os(): pass",
    "def f(load=__import__): load('os')",
    "print.__self__.__import__('os')",
    "globals()['__builtins__'].__import__('os')",
    "globals()['__builtins__'].__dict__['__imp' + 'ort__']('os')",
    "vars(__builtins__)['__import__']('os')",
    "getattr(__builtins__, '__imp%s__' % 'ort')('os')",
    "getattr(__builtins__, ''.join(['__imp', 'ort__']))('os')",
    "getattr(__builtins__, '{}ort__'.format('__imp'))('os')",
    "getattr(__builtins__, '__tropmi__'[::-1])('os')",
    "getattr(__builtins__, input())('os')",
    "name = 'o' + 's'\n__import__(name)",
    "__import__('so'[::-1])",
    "__import__(chr(111) + chr(115))",
    "__import__(bytes([111, 115]).decode())",
    "__import__(*['os'])",
    "__import__('pathlib').os",
    "import importlib\nimportlib.import_module('pathlib').os",
    "import importlib\nimportlib.import_module('.path', 'os')",
    "import importlib\nimportlib._bootstrap._gcd_import('os')",
    "import importlib.util as u\nu.find_spec('subprocess')",
    "__loader__.load_module('os')",
    "__spec__.loader.load_module('posix')",
    "().__class__.__base__.__subclasses__()[80].load_module('posix')",
    "import pkgutil\npkgutil.resolve_name('os:system')",
    "from pydoc import locate\nlocate('os.system')",
    "import runpy\nrunpy.run_module('os')",
    "import pathlib\np = q = pathlib\nq.os",
    "import pathlib\ngetattr(pathlib, 'os')",
    "import pathlib\nvars(pathlib)['os']",
    "import pathlib\npathlib.__dict__['os']",
    "import pathlib\npathlib.Path.cwd.__globals__['os']",
    "e = exec\ne('import os')",
    "exec('import %s' % 'os')",
    "exec(f\"import {'os'}\")",
    "code = 'import os'\nexec(code)",
    "import timeit\ntimeit.timeit('1', 'import os')",
    b"\xef\xbb\xbfimport os",
    b"# coding: utf-7\nimport +AG8Acw-",
    b"exec(b'# coding: utf-7\\nimport +AG8Acw-')",
    b"import os\n\0",  # Python 3.11.3 runs it
    b"imp\0junk\nort os",  # and this
    "import math\rimport os",
    "import math\x0c\n\x0cimport os",
]

NOT_BLOCKED: list[str | bytes] = [
    "import math",
    "from collections.abc import Iterable",
    "from __future__ import annotations",
    "from . import os",
    "from .os import path",
    "import osmium",
    "from oslo import config",
    "# import os",
    "'import os'",
    "print('import os')",
    "os = 1\nprint(os)",
    "class A: pass\na = A()\na.os = 1\nprint(a.os, a.sys)",
    "def socket(): return 1\nsocket()",
    "__import__('math').sqrt(4)",
    "exec('x = 1')",
    "exec(input())",  # nobody can know
    "import re\nre.compile('import os')",
    "import re\nre.compile('__import__\\\\(')",
    "def import_module(name): return name\nimport_module(input())",
    "class Registry:\n    def load(self, name): return self.import_module(name)",
    "class Shell:\n    def exec(self, text): ...\nShell().exec('import os')",
    "thing.os.system('x'); thing['os']; getattr(thing, 'socket')",
    "sys = {'path': 1}\nprint(sys['path'])",
    "def f(os, socket=None):\n    return os.system, socket.shutil",
    "import importlib.util\nfor n in names: importlib.util.find_spec(n)",
    "import importlib\nimportlib.import_module('.plugins', __package__)",
    "import math\ngetattr(math, name)(2)",
    "from math import *\nprint(sqrt(4))",
    "from math import *\ndef f(os): return os",
    "exec('%999999999s' % 'a')",
    "exec('{:>999999999}'.format('a'))",
    "exec('a' * 10**10)",
    "a = b\nb = a\nexec(a + b)",
    "import os as",  # does not parse: Python will say so
    "def f(:\n import os",
]


@UNIT
@pytest.mark.parametrize("code", BLOCKED)
def test_blocked_by_default(code: str | bytes) -> None:
    assert "blocked" in objection(code)


@UNIT
@pytest.mark.parametrize("code", NOT_BLOCKED)
def test_not_blocked(code: str) -> None:
    assert objection(code) == ""


@UNIT
def test_a_list_allows_what_it_names_and_what_is_below() -> None:
    allowed = ["math", "collections.abc", "xml"]
    for code in ("import math", "import collections.abc", "from xml.etree import ElementTree"):
        assert objection(code, allowed) == ""
    for code in ("import json", "import collections", "import os", "from json import loads"):
        assert "allowed: collections.abc, math, xml" in objection(code, allowed)


@UNIT
def test_a_list_may_allow_what_is_blocked_otherwise() -> None:
    assert objection("import os, os.path", ["os"]) == ""
    assert "'sys'" in objection("import os\nimport sys", ["os"])
    assert objection("import pathlib; pathlib.os", ["os", "pathlib"]) == ""


@UNIT
def test_an_empty_list_allows_nothing_and_a_star_all() -> None:
    assert "allowed: none" in objection("import math", [])
    assert not ImportPolicy.of(["*"]).asks("python")
    assert not ImportPolicy.of("*").asks("python")


@UNIT
def test_files_of_the_sandbox_may_be_imported() -> None:
    assert objection("import helper, shop.till", ["math"], ("helper.py", "shop/till.py")) == ""
    assert "'os'" in objection("import os", None, ("helper.py",))


@UNIT
@pytest.mark.parametrize("files", [("os.py",), ("os",), ("os/data.txt",), ("sys/__init__.py",)])
def test_no_file_makes_a_blocked_module_ones_own(files: tuple[str, ...]) -> None:
    """Python would take its own all the same."""
    assert objection("import os, sys", None, files) == "line 1: import of 'os' is blocked"


@UNIT
def test_data_is_no_module() -> None:
    assert "'csv'" in objection("import csv", ["math"], ("csv/a.txt", "csv"))
    assert objection("import fast", ["math"], ("fast.cpython-311-x86_64-linux-gnu.so",)) == ""


@UNIT
@pytest.mark.parametrize(
    "code",
    [
        "import math\n" + ("math" + ".x" * 300 + "\n") * 25,
        "import math\n" + "".join(f"x = math.a{n}\n" for n in range(400)) + "y = x.z\n" * 400,
        "import math\nx = math\n" + "x = x.a\nx = x.b\nx = x.c\n" * 500,
        "a0 = 'xy'\n" + "".join(f"a{n + 1} = a{n} + a{n}\n" for n in range(700)),
        "exec(" * 80 + "'1'" + ")" * 80,
    ],
    ids=["attributes", "many", "growing", "doubling", "nested"],
)
def test_no_short_code_takes_long(code: str) -> None:
    """Each of these took minutes, or all memory, when work was not bounded."""
    begun = time.process_time()
    assert objection(code) == ""
    assert time.process_time() - begun < 5


@UNIT
def test_it_names_the_first_line() -> None:
    assert objection("import math\n\nimport sys\nimport os") == "line 3: import of 'sys' is blocked"


@UNIT
def test_no_short_code_takes_much_memory() -> None:
    """Texts that are put together may double with every line."""
    code = "a0 = 'xy'\n" + "".join(f"a{n + 1} = a{n} + a{n}\n" for n in range(25))
    tracemalloc.start()
    try:
        assert objection(code) == ""
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


@UNIT
@pytest.mark.parametrize("wrong", ["os", [1], ["math", None], 5, b"os", ["math, json"], [""]])
def test_a_list_that_is_none(wrong: object) -> None:
    with pytest.raises(InvalidInput, match="list of module names"):
        Sandbox(allowed_imports=wrong)  # type: ignore[arg-type]


@UNIT
def test_a_list_may_be_any_iterable() -> None:
    names = ["math"]
    for given in (names, ("math",), {"math": 1}, (name for name in names)):
        assert Sandbox(allowed_imports=given).policy.allowed == frozenset(["math"])
    sandbox = Sandbox(allowed_imports=names)
    names.append("os")
    assert repr(sandbox).count("os") == 0


@pytest.mark.engines
def test_files_of_the_sandbox_may_import_what_they_like() -> None:
    """They are the caller's own, not the code's."""
    sandbox = Sandbox(filesystem={"helper.py": "import os\ndef pid(): return os.getpid() > 0"})
    assert sandbox.run("import helper\nprint(helper.pid())").stdout == "True\n"


@pytest.mark.engines
def test_nothing_is_run() -> None:
    result = Sandbox().run("print('before')\nimport os")
    assert result.stdout == ""
    assert result.exit_code == 1
    assert result.stderr == "line 2: import of 'os' is blocked\n"
    assert result.ended_by is None


@pytest.mark.engines
def test_python_says_itself_what_does_not_parse() -> None:
    result = Sandbox(allowed_imports=[]).run("import os\nprint(")
    assert result.exit_code == 1
    assert "SyntaxError" in result.stderr


@pytest.mark.engines
def test_other_languages_refuse_it() -> None:
    with pytest.raises(InvalidInput, match="allowed_imports is for Python"):
        Sandbox(allowed_imports=["fs"]).run("echo hi", "bash")
    assert Sandbox().run("echo hi", "bash").stdout == "hi\n"

"""Which imports are blocked: read from the syntax, before anything is run."""

from __future__ import annotations

import pytest

from coderunner import InvalidInput
from coderunner.sandbox import Sandbox
from coderunner.sandbox.import_policy import ImportPolicy

UNIT = pytest.mark.unit


def objection(code: str, allowed: list[str] | None = None, files: tuple[str, ...] = ()) -> str:
    return ImportPolicy.of(allowed).objection("python", code, files)


BLOCKED = [
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
]

NOT_BLOCKED = [
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
    "import os as",  # does not parse: Python will say so
    "import os\n\0",
    "def f(:\n import os",
]


@UNIT
@pytest.mark.parametrize("code", BLOCKED)
def test_blocked_by_default(code: str) -> None:
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
    assert objection("import os, sys\n__import__(input())", ["*"]) == ""
    assert ImportPolicy.of("*").objection("python", "import os") == ""


@UNIT
def test_files_of_the_sandbox_may_be_imported() -> None:
    assert objection("import helper, shop.till", ["math"], ("helper.py", "shop/till.py")) == ""
    assert "'os'" in objection("import os", None, ("helper.py",))


@UNIT
def test_it_names_the_first_line() -> None:
    assert objection("import math\n\nimport sys\nimport os") == "line 3: import of 'sys' is blocked"


@UNIT
@pytest.mark.parametrize("code", ["(" * 100_000, "-" * 1_000_000 + "1", "[" * 90 + "]" * 90])
def test_deep_code_is_no_trouble(code: str) -> None:
    assert objection(code) == ""


@UNIT
@pytest.mark.parametrize("wrong", ["os", [1], ["math", None]])
def test_a_list_that_is_none(wrong: object) -> None:
    with pytest.raises(InvalidInput, match="list of module names"):
        Sandbox(allowed_imports=wrong)  # type: ignore[arg-type]


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

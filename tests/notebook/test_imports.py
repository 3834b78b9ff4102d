"""Notebook: imports that are remembered, and code that keeps its line numbers."""

from __future__ import annotations

import pytest

from coderunner.notebook import Notebook

pytestmark = pytest.mark.unit


def remembered(*codes: str) -> list[str]:
    notebook = Notebook()
    for code in codes:
        notebook.add_imports_from_code(code)
    return [str(line) for line in notebook.imports]


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("import os", ["import os"]),
        ("import os, sys as s", ["import os", "import sys as s"]),
        ("import os.path", ["import os.path"]),
        ("import a.b as c", ["import a.b as c"]),
        ("from x import (a,\n  b as c, # why\n)", ["from x import a", "from x import b as c"]),
        ("from x import \\\n  a", ["from x import a"]),
        ("from x import *", ["from x import *"]),
        ("import os; import re\nx = 1; import json", ["import os", "import re", "import json"]),
        ("def f():\n    import os", []),
        ("if x:\n    import os", []),
        ("text = '''\nimport os\n'''", []),
        ("# import os", []),
        ("from . import x", []),
        ("import os\ndoes not parse", []),
        ("import os\0", []),
    ],
)
def test_what_is_remembered(code: str, lines: list[str]) -> None:
    assert remembered(code) == lines


def test_duplicates_are_folded() -> None:
    assert remembered("import os", "import os, os", "from x import a, a") == [
        "import os",
        "from x import a",
    ]


def test_a_name_means_what_it_was_last() -> None:
    assert remembered("import numpy as np", "import cupy as np") == ["import cupy as np"]
    assert remembered("from a import x", "from b import x") == ["from b import x"]
    assert remembered("import os", "import fake as os") == ["import fake as os"]
    assert remembered("import xml.dom", "import xml.sax") == ["import xml.dom", "import xml.sax"]


def with_imports(code: str, before: str = "import math\nimport os as o") -> str:
    notebook = Notebook()
    notebook.add_imports_from_code(before)
    return notebook.get_code_with_imports(code)


@pytest.mark.parametrize(
    ("code", "whole"),
    [
        ("print(1)\nx", "import math; import os as o; print(1)\nx"),
        ("\ndef f(): pass", "import math; import os as o\ndef f(): pass"),
        ("# why\ndef f(): pass", "import math; import os as o  # why\ndef f(): pass"),
        ("\n\n# why\nx = 1", "\n\n# why\nimport math; import os as o; x = 1"),
        ("\n\n@d\ndef f(): pass", "\nimport math; import os as o\n@d\ndef f(): pass"),
        ("'''a\nb'''\nx", "'''a\nb'''; import math; import os as o\nx"),
        (
            "from __future__ import annotations\nx",
            "from __future__ import annotations; import math; import os as o\nx",
        ),
        ("import math, re\nx", "import os as o; import math, re\nx"),
        ("import math\nimport os as o\nx", "import math\nimport os as o\nx"),
        ("x = 1\nimport math", "import math; import os as o; x = 1\nimport math"),
        ("", "import math; import os as o"),
        ("# nothing", "import math; import os as o  # nothing"),
        ("def f(): pass", "import math; import os as o\ndef f(): pass"),
        ("é = 'é'; x = 1", "import math; import os as o; é = 'é'; x = 1"),
        ("\\\ndef f(): pass", "import math; import os as o\n\\\ndef f(): pass"),
        ("does not parse", "does not parse"),
    ],
)
def test_where_imports_are_put(code: str, whole: str) -> None:
    assert with_imports(code) == whole


@pytest.mark.parametrize("code", ["1/0", "\n\n1/0", "# why\n\n1/0", "'doc'\nfor x in [0]: 1/x"])
def test_lines_keep_their_numbers(code: str) -> None:
    wanted = code.count("\n") + 1
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile(with_imports(code), "code", "exec"), {})
    assert [entry.lineno for entry in caught.traceback][-1] == wanted - 1  # pytest counts from 0


def test_future_comes_first() -> None:
    whole = with_imports("def f(x: nobody_knows): pass", "from __future__ import annotations")
    exec(compile(whole, "code", "exec"), {})
    assert with_imports("x", "import math") == "import math; x"
    both = with_imports("x", "from __future__ import annotations\nimport math")
    assert both == "from __future__ import annotations; import math; x"
    again = with_imports(
        "from __future__ import division\nx", "from __future__ import annotations\nimport math"
    )
    exec(compile(again, "code", "exec"), {"x": 1})


def test_nothing_to_add() -> None:
    assert Notebook().get_code_with_imports("x\r\ny") == "x\r\ny"


def test_how_it_is_shown() -> None:
    notebook = Notebook()
    notebook.add_imports_from_code("import re")
    assert repr(notebook) == "Notebook(['import re'])"

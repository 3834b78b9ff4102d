"""The notebook's door: code that an assistant or a notebook has written, piece by piece.

from coderunner.notebook import CodeExecutor

CodeExecutor().execute('print("hello")').stdout

executor.py      CodeExecutor
model.py         what goes in, what comes out
imports.py       Notebook: what was imported before
import_lines.py  imports, read from the syntax
in_box.py        code in a box of its own
in_container.py  code in a container of yours
conclusion.py    from the facts of a run to a result
inside/          what runs on the other side
"""

from __future__ import annotations

from coderunner.notebook.executor import CodeExecutor
from coderunner.notebook.imports import Notebook
from coderunner.notebook.model import (
    ErrorType,
    ExecutionError,
    ExecutionResult,
    ResourceLimits,
)

__all__ = [
    "CodeExecutor",
    "ErrorType",
    "ExecutionError",
    "ExecutionResult",
    "Notebook",
    "ResourceLimits",
]

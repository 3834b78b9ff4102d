"""The simple door: one object with limits, one method that runs code.

from coderunner.sandbox import Sandbox

Sandbox(timeout=2).run('print("hello")').stdout

door.py          Sandbox
result.py        its ExecutionResult
words.py         what is said of a limit that was hit
imports.py       which imports Python code asks for
import_policy.py which of them are blocked
"""

from __future__ import annotations

from coderunner.sandbox.door import Sandbox
from coderunner.sandbox.import_policy import BLOCKED_BY_DEFAULT
from coderunner.sandbox.result import ExecutionResult

__all__ = ["BLOCKED_BY_DEFAULT", "ExecutionResult", "Sandbox"]

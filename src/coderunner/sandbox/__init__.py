"""The simple door: one object with limits, one method that runs code.

from coderunner.sandbox import Sandbox

Sandbox(timeout=2).run('print("hello")').stdout

door.py          Sandbox
given.py         what a caller gives it, checked
result.py        its ExecutionResult
words.py         what is said of a limit that was hit
imports.py       which imports Python code asks for
origins.py       where the things come from that it speaks of
texts.py         texts that it has in pieces
import_policy.py which imports are blocked
import_check.py  reads code where that can do no harm
inside/          what does so in a box
"""

from __future__ import annotations

from coderunner.sandbox.door import Sandbox
from coderunner.sandbox.import_policy import BLOCKED_BY_DEFAULT
from coderunner.sandbox.result import ExecutionResult

__all__ = ["BLOCKED_BY_DEFAULT", "ExecutionResult", "Sandbox"]

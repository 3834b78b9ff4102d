"""What is taken out of code before it is run."""

from __future__ import annotations

from coderunner.judge.language import Language


def sanitize_code(code: str, language: Language | str) -> str:
    """The code without NUL characters, which no compiler means well with.

    Nothing else: words like `eval` or `import os` are not looked for, whatever the language. Who
    wants to can write them in a hundred ways, and who writes them mostly means no harm. What keeps
    a program in is the sandbox.
    """
    return code.replace("\0", "")

"""Notebook: what one piece of code has imported, the next ones have."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from coderunner.notebook.import_lines import (
    ImportLine,
    first_ones,
    imports_of,
    leading,
    parsed,
)


class Notebook:
    """Manages the state of imports for a session."""

    def __init__(self) -> None:
        self._imports: dict[ImportLine, None] = {}  # in the order in which they were made

    def __repr__(self) -> str:
        return f"Notebook({[str(line) for line in self.imports]})"

    @property
    def imports(self) -> tuple[ImportLine, ...]:
        return tuple(self._imports)

    def add_imports_from_code(self, code: str) -> None:
        """Remember the imports that the code makes at its top level."""
        tree = parsed(code)
        if tree is not None:
            self.add(imports_of(tree.body))

    def add(self, lines: Iterable[ImportLine]) -> None:
        for line in lines:
            for other in [known for known in self._imports if line.displaces(known)]:
                del self._imports[other]
            self._imports.setdefault(line)

    def get_code_with_imports(self, code: str) -> str:
        """The code with all that is remembered in front of it, but for what it begins with itself.

        No line gets another number if that can be avoided, so that a traceback names the lines its
        reader knows: the imports share a line with what is there. Only code that begins in its
        first line with a `def`, or anything else that has a block, moves down by one.
        """
        tree = parsed(code)
        if tree is None:
            return code
        own = set(imports_of(leading(tree)))
        missing = [line for line in self.imports if line not in own]
        if not missing:
            return code
        missing.sort(key=lambda line: not line.is_future)
        joined = "; ".join(map(str, missing))
        put = _put(code, tree, joined)
        return put if parsed(put) is not None else f"{joined}\n{code}"


def _put(code: str, tree: ast.Module, imports: str) -> str:
    lines = _split(code)
    if first := first_ones(tree):
        last = first[-1]
        return _insert(lines, last.end_lineno or 1, last.end_col_offset or 0, f"; {imports}")
    if not tree.body:
        return f"{imports}{'  ' if code.startswith('#') else ''}{code}"
    start = tree.body[0]
    if not _has_block(start):
        return _insert(lines, start.lineno, start.col_offset, f"{imports}; ")
    before = min([start.lineno, *(node.lineno for node in getattr(start, "decorator_list", ()))])
    if before == 1:
        return f"{imports}\n{code}"
    # Above it are comments and empty lines, but a first line may say how the rest is written.
    line = lines[before - 2]
    if before == 2 and line.startswith(b"#"):
        return _insert(lines, 1, 0, f"{imports}  ")
    return _insert(lines, before - 1, 0, imports + ("  " if line.strip() else ""))


def _insert(lines: list[bytes], number: int, column: int, text: str) -> str:
    line = lines[number - 1]
    lines[number - 1] = line[:column] + text.encode() + line[column:]
    return b"".join(lines).decode()


def _split(code: str) -> list[bytes]:
    """Lines as Python counts them, and bytes, since it counts columns in those."""
    return code.encode().replace(b"\r\n", b"\n").replace(b"\r", b"\n").splitlines(keepends=True)


def _has_block(statement: ast.stmt) -> bool:
    return hasattr(statement, "body") or isinstance(statement, ast.Match)

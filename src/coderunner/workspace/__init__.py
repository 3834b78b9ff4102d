"""The directory a program lives in: safe names in, safe collection out.

    names.py       which file names a program may have
    directory.py   Workspace: a private directory and the files put into it
    bundle.py      Bundle: the files of a program in memory
    root.py        the locked directory all workspaces of this process are in
    tree.py        removing a tree, however hostile
    collection.py  reading back what a program left, however hostile
    patterns.py    which paths a collection wants

Everything here is plain blocking code: it is fast, and what may not be (a hostile tree) is for
the caller to put into a thread.
"""

from __future__ import annotations

from coderunner.workspace.bundle import Bundle, copy_in
from coderunner.workspace.collection import (
    CollectedFile,
    Collection,
    Skipped,
    collect,
    is_executable,
)
from coderunner.workspace.directory import Workspace
from coderunner.workspace.names import check_names
from coderunner.workspace.patterns import check_patterns
from coderunner.workspace.tree import remove_tree

__all__ = [
    "Bundle",
    "CollectedFile",
    "Collection",
    "Skipped",
    "Workspace",
    "check_names",
    "check_patterns",
    "collect",
    "copy_in",
    "is_executable",
    "remove_tree",
]

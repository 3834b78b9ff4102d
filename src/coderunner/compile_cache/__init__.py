"""What compilers made, kept: the same program need not be compiled twice.

    key.py     everything that can change what a compiler makes, as one hash
    entry.py   one compilation as bytes, with a digest
    store.py   a directory of entries, bounded, the least recently used go first

Only compilations that succeeded are kept: a failure may be the machine's, and the next try works.
A program in a box never sees any of this. An entry is written by us alone, from what came out of
the box that compiled exactly what its key stands for.
"""

from __future__ import annotations

from coderunner.compile_cache.entry import Compiled
from coderunner.compile_cache.key import compile_key
from coderunner.compile_cache.store import CompileCache

__all__ = ["CompileCache", "Compiled", "compile_key"]

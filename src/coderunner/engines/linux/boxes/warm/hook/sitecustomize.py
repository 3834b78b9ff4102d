"""Found by a warm interpreter at the end of its start. Returns only in a fork that is to become a
program, with every trace of itself removed."""

import os
import sys

if sys.version_info < (3, 10):  # noqa: UP036 - whichever the toolchain has
    os._exit(0)  # too old for us: programs start cold

_place = sys.path.pop(0)  # where this file was found: PYTHONPATH
del os.environ["PYTHONPATH"]
del sys.modules["sitecustomize"]
sys.path_importer_cache.pop(_place, None)
try:  # noqa: SIM105 - nothing is imported here that a program would not have
    __import__("sitecustomize")  # the real one, if there is one
except ImportError:
    pass

_base = dict(sys.modules)
_finders = dict(sys.path_importer_cache)
_package = os.path.dirname(os.path.dirname(os.path.dirname(_place)))  # where `boxes` is
sys.path.insert(0, _package)
from boxes.warm.preload import Preloaded  # type: ignore[import-not-found] # noqa: E402

sys.path.remove(_package)
_preloaded = Preloaded(_base, _finders)
_preloaded.load()
_preloaded.server.serve(_preloaded)
# From here on this is the program's process.
if "sitecustomize" not in sys.modules:
    # What the interpreter would have come upon, had there been no file of ours.
    raise ImportError("No module named 'sitecustomize'", name="sitecustomize")

"""Ends the run of a solution that reaches into the interpreter.

What grades shares a process with what is graded. There is no wall inside a process, but the usual
ways from one to the other lead through few gates: the frames of callers, tracing, lists of all
objects, raw memory. Python tells of each before it opens (audit events), and whoever is told cannot
be taken out again. No honest solution goes there; libraries do, and are known by where they lie.

Not everything has a gate that tells. Whoever wants a wall grades in two boxes.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import FrameType
    from typing import Any

    Event = tuple[str, tuple[Any, ...]]

_FOR_NOBODY = frozenset(
    (
        "sys.settrace", "sys.setprofile", "sys.addaudithook", "sys.monitoring.register_callback",
        "sys._current_frames", "sys._current_exceptions", "gc.get_objects", "gc.get_referrers",
    )
)  # fmt: skip
_FOR_LIBRARIES = frozenset(
    (
        "sys._getframe", "gc.get_referents", "code.__new__", "ctypes.dlopen", "ctypes.dlsym",
        "ctypes.cdata", "ctypes.addressof", "ctypes.PyObj_FromPtr", "ctypes.string_at",
        "ctypes.wstring_at", "ctypes.call_function",
    )
)  # fmt: skip
_ATTRIBUTES = frozenset(("tb_frame", "gi_frame", "cr_frame", "ag_frame"))
_MODULES = frozenset(("_testcapi", "_testinternalcapi", "_xxsubinterpreters", "_interpreters"))
# Libraries that hand on what they get at that gate to whoever called them.
_GO_BETWEENS = ("inspect.py", "traceback.py", "logging/__init__.py", "ctypes/__init__.py")


def library_places() -> tuple[str, ...]:
    """Where what others have installed lies."""
    prefixes = {sys.prefix, sys.base_prefix, sys.base_exec_prefix, "/usr/local"}
    return ("<frozen ", *(os.path.join(prefix, "lib") for prefix in prefixes))


def arm(trip: Callable[[str], None], ours: Collection[str]) -> None:
    """`trip` is told what was reached for. `ours` are files of which everything is trusted."""
    asking: set[int] = set()  # threads in which it is we who ask
    ident = get_ident

    is_foul = _judge(tuple(ours), library_places())

    def hook(event: str, args: tuple[Any, ...]) -> None:
        thread = ident()
        if thread in asking:
            return
        asking.add(thread)
        try:
            reached_for = is_foul(event, args)
        finally:
            asking.discard(thread)
        if reached_for:
            trip(reached_for)

    sys.addaudithook(hook)


def _judge(ours: tuple[str, ...], library: tuple[str, ...]) -> Callable[..., str]:
    """All that it uses is in its closure: nothing of it can be replaced by name."""
    getframe, isinstance_, str_, bytes_ = sys._getframe, isinstance, str, bytes
    nobody, libraries, attributes, modules = _FOR_NOBODY, _FOR_LIBRARIES, _ATTRIBUTES, _MODULES
    go_betweens = _GO_BETWEENS

    def is_trusted(frame: FrameType | None) -> bool:
        if frame is None:
            return True
        name = frame.f_code.co_filename
        return name in ours or name.startswith(library)

    def is_honest(frame: FrameType) -> bool:
        """Whether a library asks, and for itself."""
        if not is_trusted(frame):
            return False
        return not frame.f_code.co_filename.endswith(go_betweens) or is_trusted(frame.f_back)

    def is_foul(event: str, args: tuple[Any, ...]) -> str:
        """What is reached for that should not be, or nothing."""
        if event in nobody:
            return event
        if event in libraries:
            return "" if is_honest(getframe(2)) else event
        if event == "object.__getattr__" and args[1] in attributes:
            return "" if is_honest(getframe(2)) else str_(args[1])
        if event == "import" and args[0] in modules:
            return "" if is_trusted(getframe(2)) else str_(args[0])
        if event == "compile" and isinstance_(args[1], str_):
            return _disguise(args[1], getframe(2))
        if event == "open" and isinstance_(args[0], (str_, bytes_)):
            name = args[0] if isinstance_(args[0], str_) else args[0].decode("latin-1")
            return "" if name.rpartition("/")[2] != "mem" else name
        return ""

    def _disguise(name: str, frame: FrameType) -> str:
        """Code that says it was from somewhere else."""
        if name in ours or (name.startswith(library) and not is_trusted(frame)):
            return f"code as if it were of {name}"
        return ""

    return is_foul

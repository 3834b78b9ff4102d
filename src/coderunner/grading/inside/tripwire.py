"""Ends the run of a solution that reaches into the interpreter.

What grades shares a process with what is graded. There is no wall inside a process, but the usual
ways from one to the other lead through few gates: the frames of callers, tracing, lists of all
objects, raw memory. Python tells of each before it opens (audit events), and whoever is told cannot
be taken out again. No honest solution goes there; libraries do, and are known by where they lie.

Not everything has a gate that tells. Whoever wants a wall grades in two boxes.
"""

from __future__ import annotations

import gc
import os
import sys
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import FrameType
    from typing import Any

    Args = tuple[Any, ...]
    Check = Callable[[str, Args, FrameType], str]

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
        "ctypes.wstring_at", "ctypes.call_function", "marshal.loads",
    )
)  # fmt: skip
_PR_SET_DUMPABLE = 4
_FRAMES = frozenset(("tb_frame", "gi_frame", "cr_frame", "ag_frame"))
# How a library that asks for itself calls it.
_WORDS = {
    "sys._getframe": "getframe",
    "gc.get_referents": "get_referents",
    "marshal.loads": "loads",
}
_NAMES_FOR_LIBRARIES = {
    "object.__setattr__": frozenset(("__code__", "__defaults__", "__kwdefaults__")),
    "import": frozenset(
        ("gc", "_testcapi", "_testinternalcapi", "_xxsubinterpreters", "_interpreters")
    ),
}
_TRACEBACK = "traceback.py"
_ONLY_LINES = ("extract_stack", "format_stack", "print_stack")  # no frames, and no values
# Libraries that hand on what they get at that gate to whoever called them.
_GO_BETWEENS = ("inspect.py", _TRACEBACK, "logging/__init__.py", "ctypes/__init__.py")


def library_places() -> tuple[str, ...]:
    """Where what others have installed lies."""
    prefixes = {sys.prefix, sys.base_prefix, sys.base_exec_prefix, "/usr/local"}
    return ("<frozen ", *(os.path.join(prefix, "lib") for prefix in prefixes))


def close_memory() -> None:
    """No other program may look into this one's memory, though it runs as the same user."""
    try:
        from ctypes import CDLL

        CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return  # an interpreter without ctypes: one gate more that nobody watches


def arm(trip: Callable[[str], None], ours: Collection[str]) -> None:
    """`trip` is told what was reached for. `ours` are files of which everything is trusted."""
    asking: set[int] = set()  # threads in which it is we who ask
    ident = get_ident

    vars(gc).pop("set_debug", None)  # it would collect frames as garbage, and nobody is told of it
    checks, getframe = _checks(tuple(ours), library_places()).get, sys._getframe

    def hook(event: str, args: tuple[Any, ...]) -> None:
        thread = ident()
        if thread in asking:
            return
        asking.add(thread)
        try:
            check = checks(event)
            reached_for = "" if check is None else check(event, args, getframe(1))
        finally:
            asking.discard(thread)
        if reached_for:
            trip(reached_for)

    sys.addaudithook(hook)


def _checks(ours: tuple[str, ...], library: tuple[str, ...]) -> dict[str, Check]:
    """By event: what is reached for that should not be, or nothing. All that they use is in
    closures: nothing of it can be replaced by name."""
    str_, words = str, dict(_WORDS)
    is_trusted, is_honest = _who_asks(ours, library)

    def for_libraries(event: str, args: Args, frame: FrameType) -> str:
        return "" if is_honest(event, words.get(event, ""), frame) else event

    def for_attributes(event: str, args: Args, frame: FrameType) -> str:
        return "" if is_honest(event, str_(args[1]), frame) else event

    def disguise(event: str, args: Args, frame: FrameType) -> str:
        """Code that says it was from somewhere else."""
        name = str_(args[1])
        foul = name in ours or (name.startswith(library) and not is_trusted(frame))
        return f"code as if it were of {name}" if foul else ""

    return {
        **dict.fromkeys(_FOR_NOBODY, lambda event, args, frame: event),
        **dict.fromkeys(_FOR_LIBRARIES, for_libraries),
        **{e: _only_these(names, for_libraries) for e, names in _NAMES_FOR_LIBRARIES.items()},
        "object.__getattr__": _only_these(_FRAMES, for_attributes),
        "compile": disguise,
        "open": _memory,
    }


def _who_asks(ours: tuple[str, ...], library: tuple[str, ...]) -> tuple[Any, Any]:
    """Whether a frame is of somebody trusted, and whether who asks for something does so for
    himself."""
    str_, any_, go_betweens, traceback = str, any, _GO_BETWEENS, _TRACEBACK
    getframe, only_lines = "sys._getframe", _ONLY_LINES

    def is_trusted(frame: FrameType | None) -> bool:
        name = "" if frame is None else frame.f_code.co_filename
        return frame is None or name in ours or name.startswith(library)

    def is_named(word: str, frame: FrameType) -> bool:
        """Or else this only calls what it was given: `singledispatch(sys._getframe)(0)`."""
        code = frame.f_code
        texts = (one for one in code.co_consts if one.__class__ is str_)
        return any_(word in one for one in (*code.co_names, *code.co_freevars, *texts))

    def is_honest(event: str, word: str, frame: FrameType) -> bool:
        if not is_trusted(frame) or not is_named(word, frame):
            return False
        name, asks, back = frame.f_code.co_filename, frame.f_code.co_name, frame.f_back
        if not name.endswith(go_betweens) or back is None or asks in only_lines:
            return True
        if event == getframe and name.endswith(traceback):  # the locals of all callers, as texts
            while back.f_code.co_filename == name and back.f_back is not None:
                asks, back = back.f_code.co_name, back.f_back
        return back.f_code.co_filename == name or (is_trusted(back) and is_named(asks, back))

    return is_trusted, is_honest


def _only_these(names: frozenset[str], check: Check) -> Check:
    text = str

    def checked(event: str, args: Args, frame: FrameType) -> str:
        found = [name for name in args[:2] if name.__class__ is text and name in names]
        return found[0] if found and check(event, args, frame) else ""

    return checked


def _memory(
    event: str, args: Args, frame: FrameType, str_: type = str, bytes_: type = bytes
) -> str:
    """/proc/self/mem, however one comes there."""
    path, kind = args[0], args[0].__class__
    if kind is bytes_:
        path, kind = path.decode("latin-1"), str_
    return path if kind is str_ and path.rpartition("/")[2] == "mem" else ""

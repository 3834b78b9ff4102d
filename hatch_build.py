"""Compiles what makes boxes faster, when the package is built or installed: see `process1.c` and
`warm/ending.c`. And the first process of the docker engine's containers: see `warden.c`.

Without a C compiler nothing is missing but speed, and the docker engine: what is done in boxes is
then done by Python.

    python hatch_build.py      compile it in place, in a checkout
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_BOXES = Path("src/coderunner/engines/linux/boxes")
_PROCESS_1 = ("process1.c", "player.c")
_LIBRARYS_OWN = ("boxes.c", "warm/ending.c")
_PROGRAM, _LIBRARY = "process1", "libboxes.so"
_WARDEN = Path("src/coderunner/engines/docker/warden")
_WARDENS_OWN = (
    *("warden.c", "order.c", "program.c", "pump.c", "meters.c"),
    *("sending.c", "emptying.c", "wiping.c"),
)
_WARDEN_PROGRAM = "coderunner-warden"
_FLAGS = ("-std=gnu11", "-O2", "-s", "-Wall", "-Wextra")

_SHARED = (*_FLAGS, "-shared", "-fPIC")


class CompileProcess1(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        made = []
        if compile_process1(Path(self.root, _BOXES)):
            made += [_BOXES / name for name in (_PROGRAM, _LIBRARY)]
        if compile_warden(Path(self.root, _WARDEN)):
            made.append(_WARDEN / _WARDEN_PROGRAM)
        if not made:
            return
        build_data["artifacts"] += [f"/{path}" for path in made]
        build_data["pure_python"] = False
        # It knows nothing of Python: one wheel for all versions.
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"


def compile_process1(boxes: Path) -> bool:
    """Compile it in the directory where it lies. Whether that could be done."""
    compiler = _compiler()
    if not sys.platform.startswith("linux") or not compiler:
        _say("there is no C compiler")
        return False
    own = [str(boxes / name) for name in _PROCESS_1]
    all_of_it = [*own, *(str(boxes / name) for name in _LIBRARYS_OWN)]
    with tempfile.TemporaryDirectory(dir=boxes, prefix=".compiling-") as place:
        program, library = Path(place, "program"), Path(place, "library")
        # Static, it starts in half the time; but not every system has the C library for that.
        for how in ("-static", "-O2"):
            error = _run(*compiler, *_FLAGS, how, "-o", str(program), *own)
            if not error:
                break
        error = error or _run(*compiler, *_SHARED, "-o", str(library), *all_of_it)
        if error:
            _say(error)
            return False
        program.replace(boxes / _PROGRAM)
        library.replace(boxes / _LIBRARY)
    return True


def compile_warden(folder: Path) -> bool:
    """The same for the docker engine's. Static or not at all: images need not have a C library."""
    compiler = _compiler()
    if not sys.platform.startswith("linux") or not compiler:
        return False
    with tempfile.TemporaryDirectory(dir=folder, prefix=".compiling-") as place:
        program = Path(place, "program")
        sources = [str(folder / name) for name in _WARDENS_OWN]
        if error := _run(*compiler, *_FLAGS, "-static", "-o", str(program), *sources):
            print(f"note: the docker engine will not work, its warden is not compiled: {error}")
            return False
        program.replace(folder / _WARDEN_PROGRAM)
    return True


def _compiler() -> list[str]:
    """The command, which may have options or a wrapper: `gcc -m64`, `ccache gcc`."""
    given = os.environ.get("CC", "").split()
    with contextlib.suppress(ValueError):  # a quotation that does not end: no such compiler
        given = shlex.split(os.environ.get("CC", ""))
    return given or [found for found in (shutil.which("cc") or shutil.which("gcc"),) if found]


def _run(*command: str) -> str:
    """What went wrong, if anything did."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    return "" if done.returncode == 0 else f"{command[0]} failed:\n{done.stderr}"


def _say(why: str) -> None:
    print(f"note: process 1 of a box is not compiled, so boxes are slower to make: {why}")
    print("hint: install a C compiler (Debian, Ubuntu: apt-get install gcc libc6-dev), then again")


if __name__ == "__main__":
    compile_process1(Path(__file__).parent / _BOXES)
    compile_warden(Path(__file__).parent / _WARDEN)

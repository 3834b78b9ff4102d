"""What a kernelspec asks for, and what of this machine it needs to see."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coderunner.errors import ToolchainMissing
from coderunner.exposure import to_show
from coderunner.model import Mount
from coderunner.settings import Settings

_FOLDER = "{folder}"  # one of its own in the box: nothing of it is among the user's files
_FONTS = "/etc/fonts"
_INSIDE = {
    "IPYTHONDIR": f"{_FOLDER}/ipython",
    "JUPYTER_CONFIG_DIR": f"{_FOLDER}/config",
    "JUPYTER_DATA_DIR": f"{_FOLDER}/data",
    "JUPYTER_RUNTIME_DIR": f"{_FOLDER}/runtime",
    "MPLCONFIGDIR": f"{_FOLDER}/matplotlib",
    "XDG_CACHE_HOME": f"{_FOLDER}/cache",
}

# What a kernelspec means by these is the Python that it was installed into.
_OUR_PYTHON = ("python", "python3", f"python3.{sys.version_info.minor}")

# What a Python kernel needs: an interpreter that has them need not load them. Nothing that looks at
# its surroundings when it is loaded, as matplotlib does.
_OF_PYTHON = (
    "json", "asyncio", "typing", "logging", "sqlite3", "zmq", "zmq.asyncio", "tornado.ioloop",
    "traitlets.config", "jupyter_client.session", "IPython.core.interactiveshell",
    "IPython.core.completer", "ipykernel.iostream", "ipykernel.kernelapp", "ipykernel.ipkernel",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Command:
    """A kernel's own command, with `{connection_file}` where that goes."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    resources: str = ""  # the directory of its kernelspec
    by_message: bool = False  # how it is interrupted; else by a signal

    @property
    def is_python(self) -> bool:
        return os.path.basename(self.argv[0]).startswith("python")

    @property
    def environment(self) -> dict[str, str]:
        return {**_INSIDE, **self.env}

    def settings(self, given: Settings) -> Settings:
        """A Python that a kernel is to run in is the one that the box is for."""
        if not self.is_python:
            return given
        toolchains = {**given.toolchains, "python": self.argv[0]}
        changes = {"toolchains": toolchains, "preload": [*given.preload, *_OF_PYTHON]}
        return given.model_copy(update=changes)

    def mounts(self) -> tuple[Mount, ...]:
        """Beside what Python brings: the kernel's installation, its kernelspec, and how fonts are
        found, since plots have letters."""
        shown = [] if self.is_python else to_show(self.argv[0], ())
        if self.resources and any(self.resources in word for word in self.argv):
            shown.append(self.resources)
        if os.path.isdir(_FONTS):
            shown.append(_FONTS)
        return tuple(Mount(Path(os.path.realpath(path)), path) for path in shown)


def command_of(
    argv: list[str],
    env: Mapping[str, str] | None = None,
    resources: str = "",
    *,
    by_message: bool = False,
) -> Command:
    """Raises ToolchainMissing if there is no such program."""
    found = sys.executable if argv[0] in _OUR_PYTHON else shutil.which(argv[0])
    if not found:
        raise ToolchainMissing(
            f"the kernel's program {argv[0]!r} is not here", hint="install the kernel again"
        )
    words = [word.replace("{resource_dir}", resources) for word in argv[1:]]
    return Command((os.path.abspath(found), *words), dict(env or {}), resources, by_message)

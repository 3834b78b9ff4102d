"""The machines that jobs run on, by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING

from coderunner.engines.base import Engine
from coderunner.errors import InvalidInput

if TYPE_CHECKING:
    from coderunner.settings import Settings


def _docker(settings: Settings | None) -> Engine:
    from coderunner.engines.docker import DockerEngine

    return DockerEngine(settings.docker if settings else None)


def _linux(settings: Settings | None) -> Engine:
    from coderunner.engines.linux import LinuxEngine

    return LinuxEngine()


def _process(settings: Settings | None) -> Engine:
    from coderunner.engines.process import ProcessEngine

    return ProcessEngine()


# Imported when asked for: nobody should pay for an engine they do not use.
ENGINES: dict[str, Callable[[Settings | None], Engine]] = {
    "docker": _docker,
    "linux": _linux,
    "process": _process,
}
AUTO = "auto"
DEFAULT = "linux"


def open_engine(name: str, settings: Settings | None = None) -> Engine:
    """The engine of this name; `auto` is the embedded sandbox."""
    check_name(name)
    return ENGINES[DEFAULT if name == AUTO else name](settings)


def check_name(name: str) -> None:
    """Raise InvalidInput unless an engine is called so."""
    if name == AUTO or name in ENGINES:
        return
    near = difflib.get_close_matches(str(name), ENGINES, n=1)
    known = ", ".join((AUTO, *ENGINES))
    raise InvalidInput(
        f"no engine is called {name!r:.80}",
        hint=f"did you mean {near[0]}?" if near else f"there are {known}",
    )

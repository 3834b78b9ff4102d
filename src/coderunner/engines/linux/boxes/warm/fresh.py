"""State that a module makes for itself when it is imported, and that no two runs may share.

(`random` sees to that itself after a fork.)
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False  # see `recorder.py`
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any


def renew(name: str, module: ModuleType) -> None:
    if name in _RENEW:
        _RENEW[name](module)


def is_renewed(name: str) -> bool:
    return name in _RENEW


def _logging(module: Any) -> None:
    is_float = isinstance(module._startTime, float)  # nanoseconds since 3.13
    module._startTime = time.time() if is_float else time.time_ns()


def _multiprocessing(module: Any) -> None:
    current = module._current_process
    current._config["authkey"] = module.AuthenticationString(os.urandom(32))


def _threading(module: Any) -> None:
    module._main_thread._set_ident()
    module._main_thread._set_native_id()


def _numpy(module: Any) -> None:
    module.seed()


_RENEW: dict[str, Callable[[Any], None]] = {
    "logging": _logging,
    "multiprocessing.process": _multiprocessing,
    "threading": _threading,
    "numpy.random.mtrand": _numpy,
}

"""What a session costs, beside a bare ipykernel on the same machine in the same run.

.venv/bin/python bench/sessions.py [ROUNDS]
"""

from __future__ import annotations

import functools
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from jupyter_client.manager import KernelManager

from coderunner.notebook import Session

CELLS = 200
CODE = "1 + 1"


def milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


class Bare:
    """An ordinary kernel and jupyter_client's own client."""

    def __init__(self) -> None:
        self._manager = KernelManager(kernel_name="python3", transport="ipc")
        self._manager.start_kernel()
        self._client: Any = self._manager.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=60)

    def execute(self, code: str) -> None:
        self._client.execute_interactive(code, output_hook=lambda message: None)

    def close(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


def first_result(make: Callable[[], Any], kept: list[Any]) -> None:
    kept.append(make())
    kept[-1].execute(CODE)


def measure(name: str, make: Callable[[], Any], rounds: int) -> None:
    starts, cells = [], []
    for _ in range(rounds):
        kept: list[Any] = []
        starts.append(milliseconds(functools.partial(first_result, make, kept)))
        cell = functools.partial(kept[0].execute, CODE)
        cells += [milliseconds(cell) for _ in range(CELLS)]
        kept[0].close()
    cells.sort()
    print(
        f"{name:12} first result {statistics.median(starts):6.0f} ms"
        f" ({min(starts):.0f}-{max(starts):.0f})   "
        f"a cell {statistics.median(cells):5.2f} ms (90%: {cells[len(cells) * 9 // 10]:.2f})"
    )


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    first: list[Any] = []
    cold = milliseconds(lambda: first_result(Session, first))
    first[0].close()
    print(f"the first session of a process: {cold:.0f} ms")
    for _ in range(3):  # the second one asks for a warm interpreter
        with Session() as session:
            session.execute(CODE)
    time.sleep(3)
    measure("session", Session, rounds)
    measure("bare kernel", Bare, rounds)


if __name__ == "__main__":
    main()

"""What an idle spawner with a warm Python weighs."""

from __future__ import annotations

import asyncio
import os
import time

from bench import tasks
from bench.lab import Lab
from bench.processes import descendants, private_kb, pss_kb
from bench.results import LINUX, Memory
from coderunner.model import File, Program

TITLE = "spawner and warm Python, idle"
_PATIENCE_SECONDS = 20.0  # boxes that stand ready are ended when nobody wants them for ten
_STILL_SECONDS = 1.0


async def measure(lab: Lab) -> Memory | None:
    """After some runs, when the boxes made ahead are gone. None if nothing can be warm here, or
    if the kernel does not let us look at them."""
    before = set(descendants(os.getpid()))
    runner = lab.new_runner(engine=LINUX)
    if not await runner.warm_up("python"):
        return None
    program = Program("python", (File("main.py", tasks.PYTHON.text.encode()),))
    for _ in range(4):
        await runner.run(program)
    ours = await _settled(before)
    read = [(pss_kb(pid), private_kb(pid)) for pid in ours]
    if not ours or not all(pss for pss, _ in read):
        return None
    return Memory(
        TITLE,
        processes=len(ours),
        pss_mb=round(sum(pss for pss, _ in read) / 1024, 2),
        private_mb=round(sum(private for _, private in read) / 1024, 2),
    )


async def _settled(before: set[int]) -> list[int]:
    """Our processes, once there are only two: the spawner and the interpreter."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        ours = [pid for pid in descendants(os.getpid()) if pid not in before]
        if len(ours) <= 2 or time.monotonic() >= deadline:
            return ours
        await asyncio.sleep(_STILL_SECONDS)

"""Looks the embedded engine over, as whoever calls this, in whatever cgroup that is.

expect_level.py LEVEL PLACE fails unless the engine reaches exactly this level of isolation, and
puts its boxes `inside` the cgroup we were started in (whose limits then hold for them) or
`anywhere`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from coderunner.engines.linux import LinuxEngine

CGROUPS = Path("/sys/fs/cgroup")


async def main(level: str, place: str) -> int:
    ours = CGROUPS / Path("/proc/self/cgroup").read_text().strip().removeprefix("0::/")
    engine = LinuxEngine()
    try:
        offered = await engine.capabilities()
        boxes = list(CGROUPS.glob("**/coderunner-*"))
    finally:
        await engine.aclose()
    print(f"uid {os.getuid()} in {ours}, boxes in {[str(path) for path in boxes]}")
    for control in offered.controls:
        if control.reason:
            print(f"{control.name}: {control.state.name.lower()}, {control.reason}")
    in_place = place == "anywhere" or (bool(boxes) and all(ours in path.parents for path in boxes))
    reached = offered.isolation.name.lower()
    print(f"level {reached}, expected {level}; boxes {place}: {in_place}")
    return 0 if in_place and reached == level else 1


sys.exit(asyncio.run(main(*sys.argv[1:])))

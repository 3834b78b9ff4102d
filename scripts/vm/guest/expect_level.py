"""Fails unless the embedded engine reaches the level of isolation given as the argument."""

from __future__ import annotations

import asyncio
import sys

from coderunner.engines.linux import LinuxEngine


async def main() -> int:
    engine = LinuxEngine()
    try:
        offered = await engine.capabilities()
    finally:
        await engine.aclose()
    reasons = {control.reason for control in offered.controls if control.reason}
    print(f"level {offered.isolation.name.lower()}: {'; '.join(sorted(reasons))}")
    return 0 if offered.isolation.name.lower() == sys.argv[1] else 1


sys.exit(asyncio.run(main()))

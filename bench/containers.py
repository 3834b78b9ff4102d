"""What the docker engine costs beside docker's own commands, round by round, all of them in turn.

python -m bench.containers IMAGE [ROUNDS]      an image that the daemon has; DOCKER_HOST is heeded
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

from coderunner.engines.docker import DockerEngine
from coderunner.execution import execute
from coderunner.model import Job
from coderunner.settings import DockerSettings
from coderunner.workspace import Bundle

COMMAND = ("/bin/echo", "hello")
WALLS = (
    *("--network=none", "--cap-drop=ALL", "--read-only", "--security-opt=no-new-privileges"),
    *("--pids-limit=64", "--memory=256m", "--memory-swap=256m", "--log-driver=none", "--init"),
    *("--tmpfs=/tmp", "--tmpfs=/workspace", "--user=1000"),
)
QUIET_S = 0.3  # until what the one before has left behind is gone

Way = Callable[[], Awaitable[None]]


async def docker(*words: str) -> str:
    process = await asyncio.create_subprocess_exec(
        "docker", *words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    out, _ = await process.communicate()
    if process.returncode:
        sys.exit(f"docker {words[0]} failed")
    return out.decode().strip()


async def measure(ways: dict[str, Way], rounds: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            await asyncio.sleep(QUIET_S)
            began = time.perf_counter()
            await way()
            if number:  # the first round is for warming up
                times[name].append((time.perf_counter() - began) * 1000)
    return times


async def main(image: str, rounds: int) -> None:
    fresh = DockerEngine(DockerSettings(image=image))
    ready = DockerEngine(DockerSettings(image=image, ready=1))
    warm = DockerEngine(DockerSettings(image=image, warm=1))
    container = await docker("run", "--detach", *WALLS, image, "sleep", "infinity")

    def on(engine: DockerEngine, job: Job) -> Way:
        async def way() -> None:
            outcome = await execute(engine, job)
            assert outcome.stdout.data == b"hello\n", outcome

        return way

    def by(*words: str) -> Way:
        async def way() -> None:
            assert await docker(*words, *COMMAND) == "hello"

        return way

    try:
        with Bundle(()) as nothing:
            job = Job(COMMAND, nothing)
            ways = {
                "docker engine, fresh": on(fresh, job),
                "docker run --rm": by("run", "--rm", "--network=none", image),
                "docker run --rm, walls": by("run", "--rm", *WALLS, image),
                "docker engine, ready": on(ready, job),
                "docker engine, warm": on(warm, job),
                "docker exec": by("exec", container),
            }
            times = await measure(ways, rounds)
    finally:
        await docker("rm", "--force", container)
        await fresh.aclose()
        await ready.aclose()
        await warm.aclose()
    for name, found in times.items():
        low, high, p95 = (
            min(found),
            max(found),
            statistics.quantiles(found, n=20, method="inclusive")[-1],
        )
        middle = statistics.median(found)
        print(f"{name:24} {middle:7.1f} ms, p95 {p95:7.1f} ms  ({low:.1f} to {high:.1f})")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 15))

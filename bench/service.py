"""What HTTP costs: the service beside the library, and beside a bare interpreter, in turn.

python -m bench.service [ROUNDS]      needs wrk (apt-get install wrk)

Eight connections send `print('hello')` to `POST /execute/python` of a real service; eight tasks run
the same by the library. Each has its seconds, then the other.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coderunner import File, Limits, Program, Runner

CODE = "print('hello')\n"
CONNECTIONS = 8
SECONDS = 5
BARE_RUNS = 30
LIMITS = Limits(output_bytes=28 * 1024)
_WRK = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = %s
done = function(summary, latency, requests)
    local bad = summary.errors.status + summary.errors.connect + summary.errors.timeout
    io.write(string.format("figures %%d %%d %%d %%d %%d\\n", summary.requests, bad,
        summary.duration, latency:percentile(50), latency:percentile(99)))
end
"""


@dataclass(frozen=True)
class Load:
    per_s: float
    p50_ms: float
    p99_ms: float


@contextlib.contextmanager
def service() -> Iterator[str]:
    """A real one, with no other limits than its slots."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    wide = {"PER_CLIENT_RATE": "1000000", "LOG_LEVEL": "warning"}
    env = {**os.environ, **{f"CODERUNNER_SERVER__{name}": value for name, value in wide.items()}}
    words = [sys.executable, "-m", "coderunner", "serve", "--host", "127.0.0.1"]
    process = subprocess.Popen([*words, "--port", str(port)], env=env)
    url = f"http://127.0.0.1:{port}"
    try:
        _await(url)
        yield url
    finally:
        process.terminate()
        process.wait()


def _await(url: str) -> None:
    for _ in range(100):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{url}/health").close()
            return
        time.sleep(0.2)
    sys.exit("the service did not start")


def by_http(url: str, seconds: float) -> Load:
    with tempfile.TemporaryDirectory() as place:
        script = Path(place, "post.lua")
        script.write_text(_WRK % json.dumps(json.dumps({"code": CODE})))
        words = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(script)]
        done = subprocess.run(
            [*words, f"{url}/execute/python"], stdout=subprocess.PIPE, text=True, check=True
        )
    found = re.search(r"figures (\d+) (\d+) (\d+) (\d+) (\d+)", done.stdout)
    assert found, done.stdout
    count, bad, us, p50, p99 = map(int, found.groups())
    assert not bad, f"{bad} of {count} requests failed"
    return Load(count / us * 1e6, p50 / 1000, p99 / 1000)


async def by_library(runner: Runner, seconds: float) -> Load:
    program = Program("python", (File("main.py", CODE.encode()),))
    slots = asyncio.Semaphore(len(os.sched_getaffinity(0)))
    times: list[float] = []
    end = time.perf_counter() + seconds

    async def one_after_another() -> None:
        while time.perf_counter() < end:
            began = time.perf_counter()
            async with slots:
                result = await runner.run(program, limits=LIMITS)
            assert result.stdout == "hello\n", result
            times.append((time.perf_counter() - began) * 1000)

    await asyncio.gather(*(one_after_another() for _ in range(CONNECTIONS)))
    quantiles = statistics.quantiles(times, n=100)
    return Load(len(times) / seconds, quantiles[49], quantiles[98])


def bare() -> float:
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(CODE)
        file.flush()
        times = []
        for _ in range(BARE_RUNS):
            began = time.perf_counter()
            subprocess.run(["python3", file.name], stdout=subprocess.DEVNULL, check=True)
            times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


async def main(rounds: int) -> None:
    http, library, single = [], [], []
    with service() as url:
        async with Runner.open() as runner:
            await runner.warm_up("python", limits=LIMITS)
            for number in range(rounds + 1):
                loads = by_http(url, SECONDS), await by_library(runner, SECONDS)
                if number:  # the first round is for warming up
                    http.append(loads[0])
                    library.append(loads[1])
                    single.append(bare())
    print(f"{'':28}{'per s':>8}{'p50 ms':>8}{'p99 ms':>8}")
    for name, found in (("POST /execute/python", http), ("the library", library)):
        figures = [statistics.median(getattr(one, key) for one in found) for key in _KEYS]
        print(f"{name:28}{figures[0]:8.0f}{figures[1]:8.1f}{figures[2]:8.1f}")
    print(f"{'bare python3 file.py':28}{'':8}{statistics.median(single):8.1f}")
    ratios = [one.per_s / other.per_s for one, other in zip(http, library, strict=True)]
    print(f"of the library's throughput: {statistics.median(ratios):.2f}")


_KEYS = ("per_s", "p50_ms", "p99_ms")

if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))

"""Daemons behind TLS: a real one, that asks for certificates."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from coderunner.engines.docker import DockerEngine
from coderunner.errors import EngineUnavailable
from coderunner.execution import Stdin, execute
from coderunner.model import EndedBy, Job, Limits, Outcome
from coderunner.settings import DockerSettings
from coderunner.workspace import Bundle
from tests.docker.certificates import make_certificates
from tests.docker.conftest import ours
from tests.docker.daemon import OwnDaemon, connect
from tests.docker.tiny import TALK, TALKING, make_talking
from tests.support import leave_out

pytestmark = [pytest.mark.engines, pytest.mark.as_root]

MIB = 1 << 20
OF_REQUESTS = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")  # it takes them instead of a client's own


@dataclass(frozen=True)
class Secured:
    daemon: OwnDaemon
    address: str
    certificates: Path


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    for tool in ("dockerd", "openssl"):
        if not shutil.which(tool):
            leave_out(f"there is no {tool}", fix="apt-get install docker.io openssl")
    folder = tmp_path_factory.mktemp("tls")
    certificates = folder / "certificates"
    make_certificates(certificates)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    daemon = OwnDaemon(
        folder,
        *(f"--host={address}", "--tlsverify", f"--tlscacert={certificates}/ca.pem"),
        *(f"--tlscert={certificates}/server-cert.pem", f"--tlskey={certificates}/server-key.pem"),
    )
    try:
        daemon.start()
        make_talking(daemon)
        yield Secured(daemon, address, certificates)
    finally:
        daemon.stop()


@pytest.fixture(autouse=True)
def nobody_else_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OF_REQUESTS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def engine(secured: Secured, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DockerEngine]:
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(secured.certificates))
    engine = DockerEngine(DockerSettings(host=secured.address, image=TALKING))
    yield engine
    await engine.aclose()
    with contextlib.closing(connect(secured.daemon.address)) as client:
        assert ours(client) == ([], [])
    assert [one.name for one in threading.enumerate() if one.name == "coderunner-tls"] == []


async def talk(engine: DockerEngine, *words: str, stdin: Stdin = None, **limits: float) -> Outcome:
    with Bundle(()) as nothing:
        job = Job((TALK, *words), nothing, limits=Limits(wall_ms=20_000).but(limits))
        return await execute(engine, job, stdin=stdin)


async def test_stdin_ends_and_what_is_said_after_that_arrives(engine: DockerEngine) -> None:
    outcome = await talk(engine, "count", stdin=bytes(5 * MIB), output_bytes=4 * MIB)
    assert outcome.ended_by is EndedBy.EXIT
    assert outcome.stdout.data.endswith(f"{5 * MIB}\n".encode())
    assert outcome.stderr.data == b"talking\n"


async def test_a_flood_arrives_whole(engine: DockerEngine) -> None:
    outcome = await talk(engine, "flood", output_bytes=9 * MIB)
    assert outcome.stdout.data == bytes(8 * MIB)


async def test_both_ways_at_once(engine: DockerEngine) -> None:
    async def slowly() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield bytes(MIB)
            await asyncio.sleep(0.02)

    outcome = await talk(engine, stdin=slowly())
    assert outcome.stdout.data.endswith(f"{5 * MIB}\n".encode())


async def test_limits_hold(engine: DockerEngine) -> None:
    async def never() -> AsyncIterator[bytes]:
        await asyncio.sleep(60)
        yield b""

    outcome = await talk(engine, stdin=never(), wall_ms=500)
    assert outcome.ended_by is EndedBy.WALL_TIME
    outcome = await talk(engine, "flood", flood_bytes=MIB)
    assert outcome.ended_by is EndedBy.OUTPUT


async def test_many_at_once(engine: DockerEngine) -> None:
    outcomes = await asyncio.gather(*(talk(engine, stdin=b"x" * size) for size in range(1, 9)))
    assert [outcome.stdout.data.split()[-1] for outcome in outcomes] == [
        b"%d" % size for size in range(1, 9)
    ]


async def test_a_container_that_was_ready(secured: Secured, engine: DockerEngine) -> None:
    ready = DockerEngine(DockerSettings(host=secured.address, image=TALKING, ready=1))
    try:
        outcomes = [await talk(ready, stdin=b"12345") for _ in range(3)]
    finally:
        await ready.aclose()
    assert [outcome.stdout.data.split()[-1] for outcome in outcomes] == [b"5"] * 3
    assert outcomes[-1].warm


async def test_a_client_of_the_callers(secured: Secured, engine: DockerEngine) -> None:
    import docker  # type: ignore[import-untyped]

    where = {"DOCKER_HOST": secured.address, "DOCKER_TLS_VERIFY": "1"}
    environment = {**where, "DOCKER_CERT_PATH": str(secured.certificates)}
    with contextlib.closing(docker.from_env(environment=environment)) as client:
        theirs = DockerEngine(DockerSettings(image=TALKING), client=client)
        try:
            assert (await talk(theirs, stdin=b"1")).stdout.data.split()[-1] == b"1"
        finally:
            await theirs.aclose()


async def test_a_daemon_that_somebody_else_vouches_for(
    secured: Secured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_certificates(tmp_path / "others")
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(tmp_path / "others"))
    engine = DockerEngine(DockerSettings(host=secured.address, image=TALKING))
    with pytest.raises(EngineUnavailable, match="certificate verify failed") as caught:
        await talk(engine)
    assert "DOCKER_CERT_PATH" in caught.value.hint


async def test_no_certificates(secured: Secured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOCKER_TLS_VERIFY", raising=False)
    monkeypatch.delenv("DOCKER_CERT_PATH", raising=False)
    engine = DockerEngine(DockerSettings(host=secured.address, image=TALKING))
    with pytest.raises(EngineUnavailable) as caught:
        await talk(engine)
    assert "DOCKER_CERT_PATH" in caught.value.hint


async def test_certificates_that_docker_py_does_not_look_at(
    secured: Secured, engine: DockerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/etc/ssl/certs/ca-certificates.crt")
    with pytest.raises(EngineUnavailable) as caught:
        await talk(engine)
    assert "unset REQUESTS_CA_BUNDLE" in caught.value.hint

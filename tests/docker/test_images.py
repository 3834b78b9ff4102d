"""Images: which, and where they come from. A real registry on loopback serves the pulls."""

from __future__ import annotations

import io
import shutil
import socket
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coderunner import Runner, Settings
from coderunner.engines.docker import images
from coderunner.errors import EngineUnavailable, ToolchainMissing
from coderunner.language import Languages
from coderunner.model import File, Program
from coderunner.settings import DockerSettings
from tests.docker.daemon import IMAGE, LANGUAGES
from tests.support import leave_out

pytestmark = pytest.mark.engines

PYTHON = Languages().get("python")


@pytest.mark.parametrize(
    ("settings", "image"),
    [
        (DockerSettings(), "python:3.11-slim"),
        (DockerSettings(default_image_prefix="coderunner"), "coderunner/python"),
        (DockerSettings(image="all"), "all"),
        (DockerSettings(image="all", images={"python": "mine"}), "mine"),
        (DockerSettings(image="all", images={"python3": "mine"}), "mine"),
        (DockerSettings(images={"c": "mine"}), "python:3.11-slim"),
    ],
)
def test_which_image(settings: DockerSettings, image: str) -> None:
    assert images.image_of(PYTHON, settings) == image


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    if not shutil.which("docker-registry"):
        leave_out("there is no docker-registry", fix="apt-get install docker-registry")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = tmp_path / "registry.yml"
    config.write_text(
        f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {tmp_path}/registry}}}}\n"
        f"http: {{addr: '127.0.0.1:{port}'}}\nlog: {{level: error}}\n"
    )
    server = subprocess.Popen(["docker-registry", "serve", str(config)])
    try:
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)


@pytest.fixture
def pushed(client: Any, registry: str) -> Iterator[str]:
    """A small image that is in the registry, and not on the daemon."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("a file"))
    name = f"{registry}/tests/tiny"
    client.api.import_image_from_data(content.getvalue(), repository=name, tag="one")
    said = client.images.push(name, tag="one")
    assert "error" not in said, said
    client.images.remove(f"{name}:one")
    yield f"{name}:one"
    client.images.remove(f"{name}:one", force=True)


@pytest.mark.as_root
def test_an_image_is_pulled_when_it_is_not_there(client: Any, pushed: str) -> None:
    heard: list[str] = []
    with pytest.raises(EngineUnavailable, match="not on this daemon"):
        images.find(client.api, pushed, DockerSettings(pull_policy="never"), heard.append)
    assert heard == []
    found = images.find(client.api, pushed, DockerSettings(), heard.append)
    assert found.id.startswith("sha256:")
    assert heard[0] == f"pulling {pushed} …"
    heard.clear()
    assert images.find(client.api, pushed, DockerSettings(), heard.append) == found
    assert heard == []
    images.find(client.api, pushed, DockerSettings(pull_policy="always"), heard.append)
    assert heard[0] == f"pulling {pushed} …"


@pytest.mark.as_root
async def test_languages_in_an_image(dockerd: str) -> None:
    settings = Settings(engine="docker", docker=DockerSettings(host=dockerd, image=IMAGE))
    async with Runner.open(settings) as runner:
        for name in LANGUAGES:
            language = runner.languages.get(name)
            program = Program(name, (File(language.source, language.hello.encode()),))
            result = await runner.run(program)
            assert result.stdout == f"Hello from {language.title}\n", result.stderr
            toolchain = await runner.toolchains.find(language)
            assert toolchain.version[0].isdigit()
        with pytest.raises(ToolchainMissing, match=f"Go needs go, and the Docker image {IMAGE}"):
            await runner.run(Program("go", (File("main.go", b"package main"),)))

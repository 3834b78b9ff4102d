"""Images: which, and where they come from. A real registry on loopback serves the pulls."""

from __future__ import annotations

import pytest

from coderunner import Runner, Settings
from coderunner.engines.docker import images
from coderunner.errors import ToolchainMissing
from coderunner.language import Languages
from coderunner.model import File, Program
from coderunner.settings import DockerSettings
from tests.docker.daemon import IMAGE, LANGUAGES

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

"""Images that come from a registry: a real one on loopback."""

from __future__ import annotations

import base64
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from coderunner.engines.docker import images
from coderunner.engines.docker.images import Image
from coderunner.errors import EngineUnavailable
from coderunner.notices import Progress
from coderunner.settings import DockerSettings
from tests.docker.daemon import connect
from tests.docker.registry import PASSWORD, USER, push, serving

pytestmark = [pytest.mark.engines, pytest.mark.as_root]

MIB = 1 << 20
NEVER, ALWAYS = DockerSettings(pull_policy="never"), DockerSettings(pull_policy="always")


class Heard(list[str | Progress]):
    @property
    def progress(self) -> list[Progress]:
        return [one for one in self if isinstance(one, Progress)]

    @property
    def text(self) -> list[str]:
        return [one for one in self if isinstance(one, str)]


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("registry") / "open") as address:
        yield address


@pytest.fixture
def pushed(client: Any, registry: str) -> Iterator[str]:
    """A small image that is in the registry, and not on the daemon."""
    name = f"{registry}/tests/tiny:one"
    push(client, name)
    yield name
    _forget(client, f"{registry}/tests/tiny")


def _forget(client: Any, repository: str) -> None:
    for image in client.images.list(repository):
        client.images.remove(image.id, force=True)


def find(client: Any, name: str, heard: Heard, settings: DockerSettings | None = None) -> Image:
    return images.find(client.api, name, settings or DockerSettings(), heard.append)


def test_an_image_is_pulled_when_it_is_not_there(client: Any, pushed: str, heard: Heard) -> None:
    with pytest.raises(EngineUnavailable, match=f"{pushed} is not here.*not on this daemon"):
        find(client, pushed, heard, NEVER)
    assert heard == []
    found = find(client, pushed, heard)
    assert found.id.startswith("sha256:")
    assert heard[0] == f"pulling {pushed} …"
    heard.clear()
    assert find(client, pushed, heard) == found
    assert find(client, pushed, heard, NEVER) == found
    assert heard == []
    assert find(client, pushed, heard, ALWAYS) == found
    assert heard[0] == f"pulling {pushed} …"


def test_always_is_for_an_image_that_has_changed(client: Any, pushed: str, heard: Heard) -> None:
    before = find(client, pushed, heard)
    push(client, pushed, 1000)
    after = find(client, pushed, heard, ALWAYS)
    assert after.id != before.id


def test_progress_is_over_all_layers(client: Any, registry: str, heard: Heard) -> None:
    name = f"{registry}/tests/layers:one"
    push(client, name, 3 * MIB, 9 * MIB, 1 * MIB)
    try:
        find(client, name, heard)
    finally:
        _forget(client, f"{registry}/tests/layers")
    assert heard.text == [f"pulling {name} …"]
    last = heard.progress[-1]
    assert last.what == f"pulling {name}"
    assert last.done == last.total >= 13 * MIB
    assert len(heard.progress) >= 4
    # What is fetched is half of it: something is told of the other half as well.
    assert any(50 < one.percent < 100 for one in heard.progress)


def test_names_without_a_tag_and_with_a_digest(client: Any, registry: str, heard: Heard) -> None:
    repository = f"{registry}/tests/named"
    digest = push(client, f"{repository}:latest")
    push(client, f"{repository}:other", 1000)
    try:
        plain = find(client, repository, heard)
        exact = find(client, digest, heard)
        assert plain.id == exact.id
        _forget(client, repository)
        both = f"{repository}:latest@{digest.partition('@')[2]}"
        assert find(client, both, heard).id == exact.id
        assert [str(one) for one in client.images.list(repository)].count("other") == 0
    finally:
        _forget(client, repository)


@pytest.mark.parametrize(
    "name",
    [
        "{registry}/tests/nobody:one",
        "{registry}/tests/tiny:two",
        "{registry}/tests/tiny@sha256:" + 64 * "0",
        "{registry}/TESTS/tiny",
        "127.0.0.1:1/tests/tiny",
    ],
)
def test_what_no_registry_has(
    client: Any, registry: str, pushed: str, heard: Heard, name: str
) -> None:
    wanted = name.format(registry=registry)
    with pytest.raises(EngineUnavailable) as caught:
        find(client, wanted, heard)
    assert wanted in caught.value.message
    assert wanted in caught.value.hint


def test_a_registry_that_asks_who_we_are(
    dockerd: str, tmp_path: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "shut", passwords=True) as registry:
        name = f"{registry}/tests/shut:one"
        client = connect(dockerd)
        try:
            push(client, name, login=True)
            with pytest.raises(EngineUnavailable, match="auth") as caught:
                find(client, name, heard)
            assert name in caught.value.message
            assert f"docker login {registry}" in caught.value.hint
        finally:
            client.close()
        known = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        config = {"auths": {registry: {"auth": known}}}
        (tmp_path / "config.json").write_text(json.dumps(config))
        monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
        client = connect(dockerd)
        try:
            assert find(client, name, heard).name == name
            _forget(client, f"{registry}/tests/shut")
        finally:
            client.close()


def foreign(name: str) -> bytes:
    """An image as `docker save` writes it, for a machine that is not in use here."""
    layer = _tar({"a file": b""})
    config = {
        "architecture": "s390x",
        "os": "linux",
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{sha256(layer).hexdigest()}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    return _tar(
        {
            "layer.tar": layer,
            "config.json": json.dumps(config).encode(),
            "manifest.json": json.dumps(manifest).encode(),
        }
    )


def _tar(files: Mapping[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return archive.getvalue()


def test_an_image_for_another_machine(client: Any, heard: Heard) -> None:
    name = "tests/foreign:one"
    client.api.load_image(foreign(name))
    try:
        with pytest.raises(EngineUnavailable, match=f"{name} is for s390x") as caught:
            find(client, name, heard)
        assert "--platform linux/" in caught.value.hint
    finally:
        client.images.remove(name)

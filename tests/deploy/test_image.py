"""The image that is made without a registry is what the Dockerfile says."""

from __future__ import annotations

import pytest

from scripts import service_image

pytestmark = pytest.mark.unit


def test_what_is_said_of_the_image_itself() -> None:
    assert service_image.instructions() == [
        "USER 10001:10001",
        "ENV XDG_CONFIG_HOME=/etc XDG_CACHE_HOME=/tmp PYTHONDONTWRITEBYTECODE=1",
        "EXPOSE 8000",
        'ENTRYPOINT ["tini", "--", "coderunner"]',
        'CMD ["serve"]',
    ]


def test_its_packages() -> None:
    assert service_image.packages([]) == ["python3", "tini", "gcc", "g++", "libc6-dev", "ruby"]
    assert service_image.packages(["nodejs"]) == ["python3", "tini", "nodejs"]


def test_it_lies_where_the_dockerfile_puts_it() -> None:
    text = service_image.DOCKERFILE.read_text(encoding="utf-8")
    assert f"ln -s {service_image.HOME}/bin/coderunner /usr/local/bin/coderunner" in text
    assert f"[{service_image.EXTRAS}]" in text

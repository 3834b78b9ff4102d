"""The service on the docker engine: one warm container per language, as long as it is needed."""

from __future__ import annotations

import contextlib
import re
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.docker.daemon import IMAGE, connect
from tests.server.conftest import Service, ServiceMaker

pytestmark = [pytest.mark.integration, pytest.mark.as_root]
_PATIENCE_S = 60


@pytest.fixture
def containers(dockerd: str) -> Iterator[Callable[[], dict[str, Any]]]:
    """Those of services, by name."""
    with contextlib.closing(connect(dockerd)) as client:

        def named() -> dict[str, Any]:
            found = client.containers.list(all=True, filters={"name": "code-runner-"})
            return {one.name: one for one in found}

        yield named


@pytest.fixture
def on_docker(serve: ServiceMaker, dockerd: str, monkeypatch: pytest.MonkeyPatch) -> ServiceMaker:
    monkeypatch.setenv("CODERUNNER_ENGINE", "docker")
    monkeypatch.setenv("CODERUNNER_DOCKER__HOST", dockerd)
    monkeypatch.setenv("CODERUNNER_DOCKER__IMAGE", IMAGE)
    return lambda **settings: serve(**{"prestart": ["python"], **settings})


def until(what: Callable[[], object]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def states(service: Service) -> Any:
    return service.client.get("/health").json()["containers"]


def test_a_container_lives_with_the_service(
    on_docker: ServiceMaker, containers: Callable[[], dict[str, Any]]
) -> None:
    service = on_docker()
    (name, container), *others = containers().items()
    assert not others
    assert re.fullmatch(r"code-runner-python-[0-9a-f]{4}", name)
    assert states(service) == {"python": "running"}
    for _ in range(2):
        said = service.execute("import os; print(os.getcwd(), sorted(os.listdir()))").json()
        file = said["file_path"].rpartition("/")[2]
        assert said["stdout"] == f"/tmp {sorted([file, 'main.py'])}\n"
        assert said["container_id"] == container.short_id
        assert said["image_name"] == IMAGE
    assert service.execute("int main(void) { return 3; }", "c").json()["exit_code"] == 3
    assert service.end() == 0
    assert containers() == {}


def test_a_container_that_somebody_has_killed_is_replaced(
    on_docker: ServiceMaker, containers: Callable[[], dict[str, Any]]
) -> None:
    service = on_docker()
    before = service.execute("print(1)").json()["container_id"]
    for harm in ("kill", "stop", "pause", "remove"):
        (container,) = containers().values()
        getattr(container, harm)(**({"force": True} if harm == "remove" else {}))
        assert states(service) == {"python": "stopped"}, harm
        said = service.execute("print(2)").json()
        assert said["stdout"] == "2\n", harm
        assert said["container_id"] != before
        until(lambda: states(service) == {"python": "running"} and len(containers()) == 1)
        before = said["container_id"]


def test_an_idle_container_is_removed_and_another_one_made(
    on_docker: ServiceMaker, containers: Callable[[], dict[str, Any]]
) -> None:
    service = on_docker(idle_seconds=0.5, check_seconds=0.2)
    assert service.execute("int main(void) { return 0; }", "c").status_code == 200
    until(lambda: not containers())
    assert states(service)["python"] == "stopped"
    assert service.execute("print(2)").json()["stdout"] == "2\n"


def test_what_a_service_that_was_killed_has_left_is_removed_by_the_next(
    on_docker: ServiceMaker, containers: Callable[[], dict[str, Any]]
) -> None:
    service = on_docker()
    (left,) = containers()
    service.end(signal.SIGKILL)
    on_docker()
    assert left not in containers()
    assert len(containers()) == 1


def test_time_and_memory_in_a_container(on_docker: ServiceMaker) -> None:
    service = on_docker(timeout_ms=1500)
    said = service.execute("print('before', flush=True)\nwhile True: pass").json()
    assert (said["stdout"], said["exit_code"]) == ("before\n", 124)
    said = service.execute("print('before', flush=True)\nx = bytearray(300 << 20)").json()
    assert (said["stdout"], said["exit_code"]) == ("before\n", 137)
    assert service.execute("print('after')").json()["stdout"] == "after\n"

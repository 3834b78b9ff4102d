"""The daemon, by docker-py: every question in a thread, every failure in our own words."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from coderunner.cancelling import outlast
from coderunner.engines.docker import secured, ssh
from coderunner.engines.docker.hijacked import let_go, socket_of
from coderunner.engines.docker.ssh import Tunnel
from coderunner.errors import EngineUnavailable

T = TypeVar("T")
_INSTALL = "pip install 'coderunner[docker]'"
_START = "start Docker (systemctl start docker), or set DOCKER_HOST to where it listens"
_USUAL = "unix:///var/run/docker.sock"
_NEAR = ("unix://", "http+unix://", ssh.SCHEME)
_AT_ONCE = 16
_PATIENCE_S = 60  # for one answer
_BAD, _NOT_FOUND, _CONFLICT = 400, 404, 409
_PODMAN = "Podman Engine"


class Daemon:
    """One that answers."""

    def __init__(self, api: Any, address: str = "", tunnel: Tunnel | None = None) -> None:
        """With the address it is ours to close, as is a tunnel."""
        self._api = api
        self._address = address
        self._tunnel = tunnel
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="coderunner-docker")
        self._left: set[str] = set()  # containers to be removed when it can be done

    @classmethod
    def connect(cls, host: str | None = None, client: Any = None) -> Daemon:
        """Raises EngineUnavailable, with the way out. Blocking."""
        if client is not None:
            return cls(getattr(client, "api", client))
        try:
            import docker  # type: ignore[import-untyped]
        except ImportError as error:
            raise EngineUnavailable(
                "the docker engine needs docker-py, which is not installed", hint=_INSTALL
            ) from error
        environment = _environment(host)
        address, tunnel = environment["DOCKER_HOST"], None
        with contextlib.ExitStack() as undo, troubles(f"cannot reach Docker at {address}", _START):
            if address.startswith(ssh.SCHEME):
                tunnel = Tunnel(address)
                undo.callback(tunnel.close)
                tunnel.open()
                address = tunnel.address
            _knock(address)
            made = docker.DockerClient(
                **docker.utils.kwargs_from_env({**environment, "DOCKER_HOST": address}),
                timeout=_PATIENCE_S,
                max_pool_size=_AT_ONCE,
            )
            # No line is kept open that a restart of the daemon would leave dead.
            made.api.headers["Connection"] = "close"
            made.api.close()  # the one it has asked the version on
            undo.pop_all()
            return cls(made.api, address, tunnel)

    async def ask(self, what: str, question: Callable[[Any], T]) -> T:
        """Have something done in a thread. What is begun is finished, also if we are cancelled."""

        def asked() -> T:
            with troubles("Docker does not answer", _START):
                if self._tunnel is not None:
                    self._tunnel.open()
                _knock(self._address)
            with troubles(f"Docker failed: {what}"):
                return question(self._api)

        try:
            working = asyncio.get_running_loop().run_in_executor(self._threads, asked)
        except RuntimeError:  # the interpreter is about to end, and starts no threads any more
            return asked()
        await outlast(working)
        return working.result()

    async def remove(self, *containers: str) -> None:
        """What cannot be removed now is removed with the next one, or in the end; and if nobody
        answers even then, it is found by its labels."""
        left, self._left = self._left, set()
        for container in {*containers, *left}:
            try:
                await self.ask("removing a container", partial(_remove, container))
            except EngineUnavailable as error:
                if not is_absent(error):
                    self._left.add(container)

    def remove_later(self, container: str) -> None:
        """If there is one of that name by then."""
        self._left.add(container)

    async def runs(self, container: str) -> bool:
        """Whether it is there, runs, and is not paused."""
        try:
            found = await self.ask(
                "looking at a container", lambda api: api.inspect_container(container)
            )
        except EngineUnavailable as error:
            if is_absent(error):
                return False
            raise
        state = found["State"]
        return bool(state.get("Running")) and not state.get("Paused")

    def close(self) -> None:
        self._threads.shutdown(wait=True)
        if self._address:
            self._api.close()
        if self._tunnel is not None:
            self._tunnel.close()


def _knock(address: str) -> None:
    """Where nobody answers, docker-py would leave a socket open."""
    kind, _, path = address.partition("://")
    if kind in ("unix", "http+unix"):
        with socket.socket(socket.AF_UNIX) as end:
            end.connect("/" + path.lstrip("/"))


def _environment(host: str | None) -> dict[str, str]:
    """As everybody else reads it: `host` says where, and `DOCKER_CERT_PATH` and `DOCKER_TLS_VERIFY`
    how, unless it is a socket of this machine."""
    said = {name: value for name, value in os.environ.items() if name.startswith("DOCKER_")}
    address = host or said.get("DOCKER_HOST") or _USUAL
    kept = {} if address.startswith(_NEAR) else said
    return {**kept, "DOCKER_HOST": address}


def _remove(container: str, api: Any) -> None:
    api.remove_container(container, force=True, v=True)


def attach(api: Any, container: str, **streams: int) -> socket.socket:
    """A line to a container's streams, as a socket of our own."""
    if api.base_url.startswith(secured.SCHEME):
        return secured.attach(api, container, {**streams, "stream": 1})
    stream = api.attach_socket(container, params={**streams, "stream": 1})
    ours = socket_of(stream)
    try:
        if type(ours) is not socket.socket:
            raise EngineUnavailable(
                "the streams of this docker client cannot be used: it goes by SSH itself",
                hint="leave the client out, and set DOCKER_HOST=ssh://user@host",
            )
        return ours.dup()
    finally:
        let_go(stream)


@contextlib.contextmanager
def troubles(what: str, hint: str = "see that `docker info` works") -> Iterator[None]:
    """Whatever docker-py raises, as EngineUnavailable."""
    try:
        yield
    except EngineUnavailable:
        raise
    except Exception as error:
        if not _is_dockers(error):
            raise
        if _is_no_answer(error):
            what = "Docker does not answer"
        raise EngineUnavailable(f"{what}: {_said(error)}", hint=_hint(error) or hint) from error


def is_absent(error: EngineUnavailable) -> bool:
    return _status(error) == _NOT_FOUND


def is_taken(error: EngineUnavailable) -> bool:
    """Somebody else has one of that name."""
    return _status(error) == _CONFLICT


def is_refused(error: EngineUnavailable) -> bool:
    """What was asked for makes no sense to the daemon, as it is."""
    return _status(error) in (_NOT_FOUND, _BAD)


def refuse_podman(version: Mapping[str, Any]) -> None:
    names = [part.get("Name") for part in version.get("Components") or ()]
    if _PODMAN in names:
        raise EngineUnavailable(
            "this is Podman's socket, which takes neither our system-call filter nor a limit on "
            "how many files there are, and mixes the streams of a container",
            hint="use Docker, or the linux engine, which needs neither",
        )


def _status(error: EngineUnavailable) -> int | None:
    return getattr(error.__cause__, "status_code", None)


def _is_dockers(error: Exception) -> bool:
    kinds = {f"{kind.__module__.partition('.')[0]}" for kind in type(error).__mro__}
    return bool(kinds & {"docker", "requests", "urllib3"}) or isinstance(error, OSError)


def _is_no_answer(error: Exception) -> bool:
    kinds = {kind.__name__ for kind in type(error).__mro__ if kind.__module__ != "builtins"}
    return bool(kinds & {"ConnectionError", "Timeout", "ProtocolError"})


def _said(error: Exception) -> str:
    said = getattr(error, "explanation", None) or error
    return str(said).strip().splitlines()[0][:300] if str(said).strip() else type(error).__name__


def _hint(error: Exception) -> str:
    said = str(getattr(error, "explanation", None) or error).lower()
    if "no space left" in said:
        return "the daemon's disk is full: docker system df, docker system prune"
    if "unknown runtime" in said or "invalid runtime" in said:
        return "set CODERUNNER_DOCKER__RUNTIME to one that `docker info` lists, or leave it out"
    if "permission denied" in said and _status_of(error) is None:
        return "this user may not use Docker: join its group, or set DOCKER_HOST to one it may"
    if "certificate" in said or "https server" in said:
        return _trust()
    if any(word in said for word in ("connection", "no such file", "timed out", "refused")):
        return _START
    return ""


def _trust() -> str:
    instead = [name for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE") if name in os.environ]
    if instead:
        return f"unset {' and '.join(instead)}, which docker-py trusts instead of your ca.pem"
    return "set DOCKER_TLS_VERIFY=1, and DOCKER_CERT_PATH to where ca.pem, cert.pem and key.pem are"


def _status_of(error: Exception) -> int | None:
    return getattr(error, "status_code", None)

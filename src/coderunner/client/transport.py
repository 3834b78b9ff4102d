"""httpx: how it is set up, and what its errors mean."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from coderunner.client.address import Address
from coderunner.client.exchange import broken_off, nonsense
from coderunner.client.steps import Head, Send
from coderunner.errors import EngineUnavailable, InvalidInput

if TYPE_CHECKING:
    import httpx

_CONNECT_S = 10
_SEND_S = 60
# Servers close what has been idle for some seconds (ours: 5). What we use again is younger, so that
# no request meets a connection that is just being closed.
_IDLE_S = 2


def imported() -> ModuleType:
    """Not before it is needed: whoever runs programs here has no use for it."""
    with needed():
        import httpx
    return httpx


@contextlib.contextmanager
def needed() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise InvalidInput(
            f"the client needs more than the library does: {error}",
            hint="pip install 'coderunner[client]'",
        ) from None


def unreachable(url: str, error: Exception) -> EngineUnavailable:
    return EngineUnavailable(
        f"nobody answers at {url}: {str(error) or 'in time'}",
        hint="is the service running? `coderunner serve` starts one",
    )


def options(address: Address) -> dict[str, Any]:
    """Of both of its clients."""
    httpx = imported()
    return {
        "base_url": address.url,
        "headers": {**address.headers, "Accept-Encoding": "identity", "User-Agent": "coderunner"},
        "limits": httpx.Limits(
            max_connections=None, max_keepalive_connections=20, keepalive_expiry=_IDLE_S
        ),
        "trust_env": not address.is_loopback,
    }


def request_of(http: httpx.Client | httpx.AsyncClient, wanted: Send) -> httpx.Request:
    headers = {"Accept": wanted.accept}
    if wanted.body is not None:
        headers["Content-Type"] = "application/json"
    timeout = imported().Timeout(
        connect=_CONNECT_S, write=_SEND_S, read=wanted.silence_s, pool=wanted.silence_s
    )
    return http.build_request(
        wanted.method, wanted.path, content=wanted.body, headers=headers, timeout=timeout
    )


def head_of(response: httpx.Response) -> Head:
    return Head(response.status_code, response.headers)


@contextlib.contextmanager
def faults_of_the_way(url: str) -> Iterator[None]:
    """What keeps us from talking to the service is the service's fault, or the network's."""
    httpx = imported()
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
        raise unreachable(url, error) from error
    except httpx.TimeoutException as error:
        raise EngineUnavailable(
            f"the service at {url} has said nothing for too long",
            hint="it may hang, or the network; `coderunner health --remote URL` asks it",
        ) from error
    except httpx.NetworkError as error:
        raise broken_off() from error
    except httpx.RemoteProtocolError as error:
        raise (broken_off() if _is_cut(error) else nonsense(f"it is no HTTP ({error})")) from error
    except httpx.HTTPError as error:
        raise nonsense(str(error)) from error


def _is_cut(error: Exception) -> bool:
    """Whether HTTP has merely ended too early."""
    words = str(error).lower()
    return "disconnected" in words or "without sending" in words or "incomplete" in words

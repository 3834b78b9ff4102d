"""Who is served: decided from the head of a request, before any of its body is read.

Host      a name of ours, or an address: a page elsewhere can make a browser call us by a name
          of its own (DNS rebinding), but not by ours
Origin    a page that is on the list, or one that we served
token     from everybody who is not on this machine
body      JSON, and no longer than what is configured
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import Scope

from coderunner.server.problems import Problem
from coderunner.server.tokens import Tokens
from coderunner.settings.server import ServerSettings

SUBPROTOCOL = "coderunner"  # what our WebSockets speak
_BEARER = "bearer."  # how pages show a token, which cannot send headers of their own
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
_LOCAL_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost")
_WITH_BODY = ("POST", "PUT", "PATCH")
_NETWORK_BITS = 64  # of an IPv6 address: the rest is a household's to choose


@dataclass(frozen=True, slots=True)
class Admission:
    """The rules, as far as they follow from the settings."""

    hosts: frozenset[str]
    origins: frozenset[str]
    tokens: Tokens

    @classmethod
    def of(cls, settings: ServerSettings) -> Admission:
        return cls(
            hosts=frozenset(name.lower() for name in (*_LOCAL_NAMES, *settings.trusted_hosts)),
            origins=frozenset(origin.rstrip("/").lower() for origin in settings.cors_origins),
            tokens=Tokens(
                (one.get_secret_value() for one in settings.tokens), settings.tokens_file
            ),
        )

    def admit(self, scope: Scope) -> str:
        """The name of the client, by which turns are given. Raises a Problem for whom we do not
        serve."""
        headers = Headers(scope=scope)
        host = _one(headers, "host")
        token = self._token(headers, scope)
        if token is None and not self._is_ours(host):
            raise Problem(
                421,
                "foreign-host",
                f"this service is not known as {host[:100]!r}",
                hint="add the name to server.trusted_hosts, or show a token",
            )
        self._check_origin(headers, scope, host)
        address = _peer(scope)
        if token is not None:
            return token
        if not _is_local(address, headers):
            raise Problem(
                401,
                "token-needed",
                "only callers on this machine are served without a token",
                hint="send `Authorization: Bearer …`; `coderunner token` makes one",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return address

    def _token(self, headers: Headers, scope: Scope) -> str | None:
        """The name of the token that is shown; None if there is none. A wrong one is refused."""
        shown = _one(headers, "authorization") or _beside_subprotocol(scope)
        if not shown:
            return None
        scheme, _, value = shown.partition(" ")
        name = self.tokens.name_of(value.strip()) if scheme.lower() == "bearer" else None
        if name is None:
            raise Problem(
                401,
                "wrong-token",
                "this token is not one of ours",
                headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
            )
        return name

    def _is_ours(self, host: str) -> bool:
        name = _name_of(host)
        return name.lower().rstrip(".") in self.hosts or _address(name) is not None

    def _check_origin(self, headers: Headers, scope: Scope, host: str) -> None:
        origin = _one(headers, "origin").lower()
        if not origin or origin.rstrip("/") in self.origins:
            return
        scheme = {"ws": "http", "wss": "https"}.get(scope["scheme"], scope["scheme"])
        if origin == f"{scheme}://{host.lower()}":
            return
        raise Problem(
            403,
            "foreign-origin",
            f"pages of {origin[:100]!r} may not call this service",
            hint="add the page's origin to server.cors_origins",
        )


def _beside_subprotocol(scope: Scope) -> str:
    """`Sec-WebSocket-Protocol: coderunner, bearer.TOKEN`, as the header would have it."""
    offered: list[str] = scope.get("subprotocols", [])
    found = [one for one in offered if one.startswith(_BEARER)]
    return f"Bearer {found[0].removeprefix(_BEARER)}" if found else ""


def check_body(scope: Scope, most: int) -> None:
    """Raises a Problem for a body that is not JSON, or says that it is too long."""
    headers = Headers(scope=scope)
    if scope["method"] not in _WITH_BODY or not _has_body(headers):
        return
    kind = _one(headers, "content-type").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(
            415,
            "not-json",
            f"the body is {kind[:100] or 'of no type'!r}",
            hint="send it with `Content-Type: application/json`",
        )
    length = _one(headers, "content-length")
    if length.isascii() and length.isdigit() and int(length[:19]) > most:
        raise too_large(most)


def _has_body(headers: Headers) -> bool:
    """Some requests say it all in their first line: pages elsewhere cannot send those either, for
    browsers name the origin of whatever is not a plain read."""
    return "transfer-encoding" in headers or _one(headers, "content-length") not in ("", "0")


def too_large(most: int) -> Problem:
    return Problem(
        413,
        "too-large",
        f"the body is longer than {most // 1024} KB",
        headers={"Connection": "close"},  # nobody reads the rest
    )


def _one(headers: Headers, name: str) -> str:
    """A header that may come once. Two of them may mean one thing to us and another to a proxy."""
    found = headers.getlist(name)
    if len(found) > 1:
        raise Problem(400, "ambiguous-header", f"the header {name} was sent more than once")
    return found[0] if found else ""


def _name_of(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _peer(scope: Scope) -> str:
    """Whose connection it is. Of an IPv6 address, the network."""
    client = scope.get("client")
    address = _address(client[0]) if client else None
    if address is None:
        return "nobody"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        if not address.is_loopback:
            return str(ipaddress.IPv6Network((address, _NETWORK_BITS), strict=False))
    return str(address)


def _is_local(address: str, headers: Headers) -> bool:
    """Not if somebody on this machine has passed it on."""
    found = _address(address)
    return found is not None and found.is_loopback and not {*_FORWARDED} & {*headers}

"""Who is served, by what the head of a request says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.types import Scope

from coderunner.server import tokens
from coderunner.server.admission import Admission, check_body
from coderunner.server.problems import Problem
from coderunner.server.rates import Rates
from coderunner.settings.server import ServerSettings

pytestmark = pytest.mark.unit
KB = 1024
OURS = ServerSettings(tokens=[SecretStr("s3cret"), SecretStr("other")], trusted_hosts=["Run.Me"])


def scope(client: str | None = "127.0.0.1", scheme: str = "http", **headers: str) -> Scope:
    named = {"host": "localhost:8000", **{k.replace("_", "-"): v for k, v in headers.items()}}
    return {
        "type": "http",
        "method": "POST",
        "scheme": scheme,
        "path": "/execute/python",
        "client": (client, 1234) if client else None,
        "headers": [(k.encode(), v.encode("latin-1")) for k, v in named.items()],
    }


def admitted(**parts: Any) -> str:
    return Admission.of(OURS).admit(scope(**parts))


def refused(**parts: Any) -> int:
    with pytest.raises(Problem) as found:
        admitted(**parts)
    return found.value.status_code


@pytest.mark.parametrize("client", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_this_machine_needs_no_token(client: str) -> None:
    assert admitted(client=client)


@pytest.mark.parametrize(
    "client", ["192.0.2.7", "2001:db8::1", "0.0.0.0", None, "unix", "10.0.0.1"]
)
def test_others_do(client: str | None) -> None:
    assert refused(client=client) == 401
    assert admitted(client=client, authorization="Bearer s3cret") == "token #1"
    assert admitted(client=client, authorization="bearer  other ") == "token #2"


@pytest.mark.parametrize(
    "shown",
    ["Bearer wrong", "Bearer", "Bearer ", "Basic s3cret", "s3cret", "Bearer s3cret2", "Bearer é"],
)
def test_a_wrong_token_is_refused_wherever_it_comes_from(shown: str) -> None:
    assert refused(authorization=shown) == 401


@pytest.mark.parametrize("name", ["forwarded", "x_forwarded_for", "x_real_ip", "x_forwarded_host"])
def test_what_a_proxy_here_passes_on_is_not_from_here(name: str) -> None:
    assert refused(**{name: "127.0.0.1"}) == 401


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8000",
        "127.0.0.1:1",
        "[::1]:8000",
        "run.me",
        "RUN.ME:80",
        "192.0.2.1",
    ],
)
def test_names_of_ours_and_addresses(host: str) -> None:
    assert admitted(host=host)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "",
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "run.me.x",
    ],
)
def test_other_names_are_foreign(host: str) -> None:
    assert refused(host=host) == 421
    assert admitted(host=host, authorization="Bearer s3cret") == "token #1"


def test_a_header_that_comes_twice_is_refused() -> None:
    twice = scope()
    twice["headers"].append((b"host", b"evil.example"))
    with pytest.raises(Problem) as found:
        Admission.of(OURS).admit(twice)
    assert found.value.status_code == 400


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://localhost:8000"])
def test_pages_on_the_list_and_our_own(origin: str) -> None:
    assert admitted(origin=origin)


@pytest.mark.parametrize(
    "origin",
    [
        *("https://evil.example", "null", "http://localhost:3001", "https://localhost:3000"),
        *("http://localhost:3000.evil.example", "file://"),
    ],
)
def test_other_pages_are_foreign(origin: str) -> None:
    assert refused(origin=origin) == 403
    assert refused(origin=origin, authorization="Bearer s3cret") == 403


def test_a_websocket_of_our_own_page() -> None:
    assert admitted(scheme="ws", origin="http://localhost:8000")
    assert refused(scheme="ws", origin="http://evil.example") == 403


@pytest.mark.parametrize("kind", ["text/plain", "", "application/x-www-form-urlencoded", "json"])
def test_a_body_that_is_not_json(kind: str) -> None:
    with pytest.raises(Problem) as found:
        check_body(scope(content_type=kind, content_length="2"), KB)
    assert found.value.status_code == 415


@pytest.mark.parametrize("length", ["0", ""])
def test_no_body_is_of_no_type(length: str) -> None:
    check_body(scope(content_type="", content_length=length), KB)
    with pytest.raises(Problem):
        check_body(scope(content_type="", transfer_encoding="chunked"), KB)


@pytest.mark.parametrize("length", ["1025", "10000000000", "9" * 400])
def test_a_length_that_is_too_much(length: str) -> None:
    with pytest.raises(Problem) as found:
        check_body(scope(content_type="application/json", content_length=length), KB)
    assert found.value.status_code == 413


def test_a_good_body() -> None:
    check_body(scope(content_type="application/json; charset=utf-8", content_length="1024"), KB)


def test_a_token_is_one_client_wherever_it_comes_from() -> None:
    shown = {"authorization": "Bearer s3cret"}
    names = {admitted(client=address, **shown) for address in ("2001:db8::1", "192.0.2.1")}
    assert names == {"token #1"}


def test_nobody_is_another_client_by_the_name_of_a_token(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    rules = Admission.of(ServerSettings(tokens=[SecretStr("s3cret")], tokens_file=file))
    names = [rules.admit(scope()), rules.admit(scope(authorization="Bearer s3cret"))]
    for name in ("127.0.0.1", "1"):
        shown = f"Bearer {tokens.add(file, name)}"
        names.append(rules.admit(scope(client="192.0.2.7", authorization=shown)))
    assert len(set(names)) == 4


def test_who_asks_too_often_is_told_when_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("coderunner.server.rates.time.monotonic", lambda: now)
    rates = Rates(per_second=0.5, burst=2)
    rates.check("a")
    rates.check("a")
    with pytest.raises(Problem) as found:
        rates.check("a")
    assert found.value.status_code == 429
    assert (found.value.headers or {})["Retry-After"] == "2"
    rates.check("b")
    now += 2
    rates.check("a")

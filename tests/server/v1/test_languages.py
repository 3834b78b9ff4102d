"""`GET /v1/languages`."""

from __future__ import annotations

import httpx
import pytest

from coderunner.language import Languages
from tests.cli.console import as_json, coderunner

pytestmark = pytest.mark.integration


def test_it_knows_what_the_command_line_knows(client: httpx.Client) -> None:
    typed = {one["name"]: one for one in as_json(coderunner("languages", "--json"))["languages"]}
    said = client.get("/v1/languages").json()["languages"]
    assert [one["name"] for one in said] == [language.name for language in Languages()]
    for one in said:
        known = typed[one["name"]]
        assert one["available"] is known["found"]
        for same in ("title", "aliases", "extensions", "version"):
            assert one[same] == known[same]


def test_it_says_which_are_warm(client: httpx.Client) -> None:
    said = {one["name"]: one for one in client.get("/v1/languages").json()["languages"]}
    states = client.get("/health").json()["containers"]
    assert said["python"]["warm"] is (states["python"] == "running")
    assert not said["c"]["warm"]  # there is nothing to keep


def test_it_tells_no_place_on_this_machine(client: httpx.Client) -> None:
    assert "/usr" not in client.get("/v1/languages").text
    assert "/home" not in client.get("/v1/languages").text

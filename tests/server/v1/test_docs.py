"""What `docs/http-v1.md` shows is what happens: an `http` example gets at least what the `json`
below it says."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest

from tests.support import ROOT

pytestmark = pytest.mark.integration

DOCUMENT = (ROOT / "docs" / "http-v1.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"^```http\n(\w+) (\S+)\n(.*?)^```\n\n^```json\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize(
    ("method", "path", "body", "shown"), [match.groups() for match in EXAMPLE.finditer(DOCUMENT)]
)
def test_example(client: httpx.Client, method: str, path: str, body: str, shown: str) -> None:
    asked = json.loads(body) if body.strip() else None
    response = client.request(method, path, **({"json": asked} if asked else {}))
    said, expected = response.json(), json.loads(shown)
    assert said.keys() >= expected.keys(), response.text
    check(said, expected)


def test_there_are_examples() -> None:
    assert len(EXAMPLE.findall(DOCUMENT)) == DOCUMENT.count("```http") >= 5


def check(said: Any, shown: Any) -> None:
    """All that is shown is there; of a list, its beginning."""
    if isinstance(shown, dict):
        for name, value in shown.items():
            check(said[name], value)
    elif isinstance(shown, list):
        for one, value in zip(said, shown, strict=False):
            check(one, value)
        assert len(said) >= len(shown)
    else:
        assert said == shown

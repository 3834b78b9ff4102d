"""So many at once, and so many of one client."""

from __future__ import annotations

import pytest

from coderunner.server.places import Places
from coderunner.server.problems import Problem

pytestmark = pytest.mark.unit


def refused(places: Places, client: str) -> int:
    with pytest.raises(Problem) as problem, places.place(client):
        pass
    assert "Retry-After" in dict(problem.value.headers or {})
    return problem.value.status_code


def test_places() -> None:
    places = Places("sockets", most=3, per_client=2)
    with places.place("anna"), places.place("anna"):
        assert refused(places, "anna") == 429
        with places.place("ben"):
            assert refused(places, "ben") == 503
            assert len(places) == 3
    assert len(places) == 0

"""Patterns that say what to collect."""

from __future__ import annotations

import pytest

from coderunner.workspace.patterns import Matcher

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("**/a/**/a/**", "a/a/x", True),
        ("**/a/**/a/**", "b/a/b/a/b/x", True),
        ("**/a/**/a/**", "a/x", False),
        ("**/x", "x", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/c/d/b", True),
        ("a/*/b", "a/c/d/b", False),
        ("a*", "a/b", False),
        ("[ab]?", "bc", True),
        ("build/**", "build", False),
    ],
)
def test_patterns(pattern: str, path: str, matches: bool) -> None:
    matcher = Matcher([pattern])
    for part in path.split("/"):
        matcher = matcher.enter(part)
    assert matcher.matched is matches


def test_a_pattern_with_many_stars_is_cheap() -> None:
    matcher = Matcher(["/".join(["**", "a"] * 30)])
    for _ in range(60):
        matcher = matcher.enter("a")
    assert matcher.matched

"""The house rules find what they are there to find."""

from __future__ import annotations

import pytest

from scripts.house_rules import LONGEST, ROOT, broken_rules

pytestmark = pytest.mark.unit


def findings(name: str, text: str) -> list[str]:
    return list(broken_rules(ROOT / name, text))


def test_a_file_may_have_400_lines_and_no_more() -> None:
    assert findings("src/a.py", "\n" * LONGEST) == []
    assert len(findings("src/a.py", "\n" * (LONGEST + 1))) == 1
    assert findings("requirements.lock", "\n" * 9_999) == []


@pytest.mark.parametrize("host", ["pypi", "crates"])
def test_no_registry_is_named(host: str) -> None:
    address = f"https://{host}.{'org' if host == 'pypi' else 'io'}/simple"
    assert findings("requirements.lock", f"# from {address}") == [
        "requirements.lock:1: names a package registry's address"
    ]


def test_code_does_not_ask_for_a_language() -> None:
    question = 'if language == "java":'
    assert len(findings("src/coderunner/runner.py", question)) == 1
    assert findings("tests/test_runner.py", question) == []

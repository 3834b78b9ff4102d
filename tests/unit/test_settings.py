"""Settings as they come from the environment, and as a caller writes them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from coderunner import InvalidInput, Settings
from coderunner.cli.options import settings_from
from coderunner.settings import PRELOAD

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("numpy", ["numpy"]),
        ("numpy,pandas", ["numpy", "pandas"]),
        (" numpy , os.path,", ["numpy", "os.path"]),
        ('["numpy", "pandas"]', ["numpy", "pandas"]),
        ("[]", []),
        ("", []),
    ],
)
def test_modules_to_preload(monkeypatch: pytest.MonkeyPatch, text: str, names: list[str]) -> None:
    assert Settings(preload=text).preload == names  # type: ignore[arg-type]  # a caller's shorthand
    assert Settings(preload=names).preload == names
    assert Settings().preload == list(PRELOAD)
    monkeypatch.setenv("CODERUNNER_PRELOAD", text)
    assert Settings().preload == names


@pytest.mark.parametrize("text", ["numpy;pandas", "[numpy", '["a b"]', "[1]", '{"a": 1}', "a..b"])
def test_what_is_no_module_is_told_with_the_form(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    with pytest.raises(ValidationError, match="CODERUNNER_PRELOAD=numpy,pandas"):
        Settings(preload=text)  # type: ignore[arg-type]  # that is the point
    monkeypatch.setenv("CODERUNNER_PRELOAD", text)
    with pytest.raises(InvalidInput, match=r"CODERUNNER_PRELOAD: .*numpy,pandas"):
        settings_from(None, None)

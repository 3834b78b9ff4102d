"""What docs/http-live.md shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.server.conftest import Service
from tests.support import ROOT

pytestmark = pytest.mark.integration


def test_its_example(live: Service) -> None:
    text = (ROOT / "docs" / "http-live.md").read_text()
    found = re.search(r"```py\n(.*?)```", text, re.DOTALL)
    assert found is not None
    code = found[1].replace("localhost:8000", f"127.0.0.1:{live.port}")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert "hello anna" in done.stdout

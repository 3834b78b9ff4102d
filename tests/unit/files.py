"""Files of which only the name matters."""

from __future__ import annotations

from coderunner.model import File


def named(*names: str) -> list[File]:
    return [File(name, b"") for name in names]

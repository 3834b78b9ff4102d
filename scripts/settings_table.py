"""Writes the table of all settings into docs/settings.md, from the class that has them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from coderunner.model import Limits
from coderunner.settings import Settings

DOCUMENT = Path(__file__).parent.parent / "docs" / "settings.md"
TABLE = re.compile(r"(?<=<!-- all settings -->\n).*?(?=<!-- end -->)", re.DOTALL)
_LONGEST = 40


def table() -> str:
    rows = [
        f"| `{key}` | {default} | {meaning.replace('|', chr(92) + '|')} |"
        for key, default, meaning in _rows(Settings, "")
    ]
    return "\n".join(["\n| key | default | meaning |", "|---|---|---|", *rows, "\n"])


def _rows(kind: type[BaseModel], above: str) -> Iterator[tuple[str, str, str]]:
    for name, field in kind.model_fields.items():
        key, inner, meaning = f"{above}{name}", field.annotation, field.description or ""
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _rows(inner, f"{key}.")
        elif inner is Limits:
            yield f"{key}.wall_ms", _shown(asdict(field.default)["wall_ms"]), meaning
        else:
            yield key, _default(key, field), meaning


_OF_A_USER = {
    "cache_dir": "`~/.cache/coderunner`",
    "server.tokens_file": "`~/.config/coderunner/tokens`",
}


def _default(key: str, field: Any) -> str:
    if key in _OF_A_USER:
        return _OF_A_USER[key]
    value = field.default if field.default is not PydanticUndefined else field.default_factory()
    return _shown(value)


def _shown(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "–"
    text = value if isinstance(value, str) else json.dumps(value)
    return f"`{text}`" if len(text) <= _LONGEST else "those that programs import most"


if __name__ == "__main__":
    DOCUMENT.write_text(TABLE.sub(lambda match: table(), DOCUMENT.read_text()))

"""Which files are read. Never one of the current directory: that is where the programs of strangers
lie, and a file among them must not decide how they are shut in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coderunner.errors import InvalidSettings
from coderunner.language import user_config_dir
from coderunner.settings.environment import CONFIG
from coderunner.settings.keys import check, is_path, leaves, put, type_at
from coderunner.settings.layers import Layer

TOML = "coderunner.toml"
YAML = "coderunner_config.yaml"


def read(kind: Any) -> list[Layer]:
    """Those that are there, the strongest first."""
    return [_layer(path, text, kind) for path in looked_for() if (text := _text(path)) is not None]


def looked_for() -> list[Path]:
    """The one that the environment names, else the user's two."""
    if named := os.environ.get(CONFIG):
        return [Path(os.path.abspath(named))]
    folder = user_config_dir()
    return [folder / TOML, folder / YAML] if folder else []


def _text(path: Path) -> str | None:
    named = bool(os.environ.get(CONFIG))
    source = f"{CONFIG}={path}" if named else str(path)
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidSettings(f"{source}: is not UTF-8: {error.reason}") from None
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        if not named and (isinstance(error, FileNotFoundError) or not _is_ours(path)):
            return None
        why = error.strerror
    except OSError as error:
        why = error.strerror
    raise InvalidSettings(f"{source}: cannot be read: {why}") from None


def _is_ours(path: Path) -> bool:
    """Somebody else's home, as after `su`, has no settings that were meant for us."""
    return os.access(path.parent, os.X_OK) and path.exists()


def _layer(path: Path, text: str, kind: Any) -> Layer:
    layer = _read_as(path.suffix.lower(), path, text)
    check(layer.values, kind, layer.called)
    return Layer(_anchored(layer.values, kind, path.parent), layer.place, layer.called)


def _read_as(suffix: str, path: Path, text: str) -> Layer:
    """The readers are imported where there is something to read."""
    if suffix in (".yaml", ".yml"):
        from coderunner.settings import spec_file

        return spec_file.read(path, text)
    from coderunner.settings import toml_file

    return toml_file.read(path, text)


def _anchored(values: Mapping[str, Any], kind: Any, folder: Path) -> dict[str, Any]:
    """Paths in a file start where the file lies, not where somebody happens to be; `~` is home."""
    changed = dict(values)
    for key, value in leaves(values, kind):
        if isinstance(value, str) and is_path(type_at(kind, key)):
            put(changed, key, os.path.join(folder, os.path.expanduser(value)))
    return changed

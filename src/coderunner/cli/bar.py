"""A last line on a terminal's stderr that shows how far something has come, and goes away."""

from __future__ import annotations

import os
import shutil
import sys

from coderunner.notices import Progress

_CLEARED = "\r\x1b[2K"
_WIDTH = 30
_LEAST_WIDTH = 10
_drawn = False


def can_be_drawn() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def draw(progress: Progress) -> None:
    """In place of what was drawn before. Once all is done, nothing is left of it."""
    global _drawn
    before = _CLEARED if _drawn else ""
    _drawn = progress.done < progress.total
    _put(before + (_line(progress) if _drawn else ""))


def take_back() -> None:
    """Something else is to be said."""
    global _drawn
    if _drawn:
        _drawn = False
        _put(_CLEARED)


def _put(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, UnicodeError):  # whoever looked at it is gone
        return


def _line(progress: Progress) -> str:
    from rich.console import Console
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    columns = shutil.get_terminal_size().columns
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    words = Text(f" {progress}", style="dim")
    words.truncate(max(columns - _WIDTH - 2, _LEAST_WIDTH), overflow="ellipsis")
    shown = ProgressBar(total=progress.total, completed=progress.done, width=_WIDTH)
    with console.capture() as captured:
        console.print(shown, end="")
        console.print(words, end="")
    return captured.get().replace("\n", "")

"""The rules of this repository that no linter knows. `make check` runs it.

- A file has one reason to exist: none that somebody has written is longer than 400 lines.
- Where packages come from is the business of whoever installs them: no registry's address is
  written down, not even in the lock file.
- Languages are data: no code asks which language it has in front of it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
LONGEST = 400
GENERATED = re.compile(r"requirements[.]lock|docs/schemas/.*[.]json")
NOT_OURS = re.compile(
    r"[.]git|[.]venv|__pycache__|[.]\w+_cache|[.]hypothesis|build|dist|process1|libboxes[.]so|"
    r"coderunner-warden"
)

# Written with [.] so that this file does not break its own rule.
REGISTRIES = re.compile(
    r"pypi[.]org|pythonhosted[.]org|npmjs[.]org|deb[.]debian[.]org|ubuntu[.]com/ubuntu|crates[.]io"
)
REGISTRY_OF_LANGUAGES = Path("src/coderunner/language.py")
ASKS_FOR_LANGUAGE = re.compile(r"language\w*(\.name)? ==")


def our_files(folder: Path = ROOT) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if NOT_OURS.fullmatch(path.name) or path.is_symlink():
            continue
        if path.is_dir():
            yield from our_files(path)
        else:
            yield path


def broken_rules(path: Path, text: str) -> Iterator[str]:
    name = path.relative_to(ROOT)
    lines = text.splitlines()
    may_not_ask = name.parts[0] == "src" and name != REGISTRY_OF_LANGUAGES
    if len(lines) > LONGEST and not GENERATED.fullmatch(str(name)):
        yield f"{name}: {len(lines)} lines, more than {LONGEST}; is it still one thing?"
    for number, line in enumerate(lines, start=1):
        if REGISTRIES.search(line):
            yield f"{name}:{number}: names a package registry's address"
        if may_not_ask and ASKS_FOR_LANGUAGE.search(line):
            yield f"{name}:{number}: asks for a language by name; make it data in its TOML file"


def main() -> int:
    files = list(our_files())
    findings = [
        finding
        for path in files
        for finding in broken_rules(path, path.read_text(encoding="utf-8", errors="replace"))
    ]
    print(*findings, sep="\n", file=sys.stderr, end="\n" if findings else "")
    print(f"house rules: {len(files)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

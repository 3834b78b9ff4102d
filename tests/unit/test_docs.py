"""What the documents show is what happens.

- In a Python example, the comment behind a `print` is what it prints.
- In a console example, the lines under a `$ command` are what it writes to stdout; `...` stands for
  any lines. Every command must succeed.
- A TOML example that begins with a comment naming a path is that file while its document is tested.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from coderunner.errors import UnknownLanguage
from coderunner.language import Languages
from tests.server.conftest import Service
from tests.support import ROOT, require_sandbox, require_toolchain

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|console|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^\s*print\(.*\)  # (.*)$", re.MULTILINE)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
LANGUAGE = re.compile(r"-l (\w+)|language=\"(\w+)\"")
SERVICE = "http://127.0.0.1:8000"
EXAMPLE = re.compile(r"examples/[\w./]*\w")

pytestmark = pytest.mark.engines


@dataclass(frozen=True)
class Example:
    document: Path
    line: int
    kind: str
    text: str


def examples_of(document: Path) -> list[Example]:
    text = document.read_text(encoding="utf-8")
    return [
        Example(document, text.count("\n", 0, match.start()) + 1, match[1], match[2])
        for match in BLOCK.finditer(text)
    ]


def all_examples(kind: str) -> list[Example]:
    found = [example for document in DOCUMENTS for example in examples_of(document)]
    return [example for example in found if example.kind == kind]


def place(example: Example) -> str:
    return f"{example.document.name}:{example.line}"


def languages_of(names: list[str], languages: Languages) -> set[str]:
    """Those of example programs; of a problem, those of all its submissions."""
    found = set()
    for path in (ROOT / name for name in names):
        for file in path.rglob("*") if path.is_dir() else [path]:
            with contextlib.suppress(UnknownLanguage):
                found.add(languages.for_file(file.name).name)
    return found


def prepare(example: Example, home: Path) -> None:
    """See that what the example needs is here, and write the files its document shows."""
    require_sandbox()
    languages = Languages()
    named = {option or keyword for option, keyword in LANGUAGE.findall(example.text)}
    for name in named | languages_of(EXAMPLE.findall(example.text), languages):
        if name in languages:  # otherwise it is misspelt on purpose, or the document's own
            require_toolchain(name)
    for other in examples_of(example.document):
        first_line = other.text.partition("\n")[0]
        if other.kind == "toml" and first_line.startswith("# ~/"):
            path = home / first_line.removeprefix("# ~/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(other.text)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    found = Service(tokens_file=str(tmp_path_factory.mktemp("tokens") / "t"), prestart=[])
    yield found
    found.end()


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """An example that wants a service gets one."""

    def with_address(text: str) -> str:
        if SERVICE not in text:
            return text
        service: Service = request.getfixturevalue("service")
        return text.replace(SERVICE, service.url)

    return with_address


def output_of(argv: list[str], home: Path) -> str:
    """What a command writes to stdout in a home of its own, with `coderunner` on its PATH."""
    done = subprocess.run(
        argv,
        cwd=ROOT,
        env={
            "HOME": str(home),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, f"{argv[-1]}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("example", all_examples("python"), ids=place)
def test_python_example(example: Example, tmp_path: Path, served: Callable[[str], str]) -> None:
    prepare(example, tmp_path)
    printed = output_of([sys.executable, "-c", served(example.text)], tmp_path)
    assert printed.splitlines() == PRINTED.findall(example.text)


@pytest.mark.parametrize("example", all_examples("console"), ids=place)
def test_console_example(example: Example, tmp_path: Path, served: Callable[[str], str]) -> None:
    prepare(example, tmp_path)
    commands = COMMAND.findall(example.text)
    assert commands
    for command, shown in commands:
        written = output_of(["bash", "-c", served(command)], tmp_path)
        pattern = re.sub(r"([\[*?])", r"[\1]", shown).replace("...\n", "*")
        assert fnmatchcase(written, pattern), f"$ {command}\n{written}"


@pytest.mark.parametrize("document", sorted({*DOCUMENTS, *ROOT.glob("*.md")}), ids=lambda d: d.name)
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)|src=\"([^\"]+)\"", text)
    local = [link or source for link, source in targets if "://" not in (link or source)]
    assert [target for target in local if not (document.parent / target).exists()] == []


def test_the_proofs_that_security_names_are_there() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    table = [line for line in text.splitlines() if line.startswith("| ") and "`" in line]
    named = {name for line in table for name in re.findall(r"`([\w/]+/\w+\.\w+)`", line)}
    programs = ROOT / "tests" / "hostile" / "programs"
    assert len(named) > 30
    assert [n for n in named if not (ROOT / n).exists() and not (programs / n).exists()] == []

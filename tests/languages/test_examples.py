"""The programs in `examples/` do what their first line says, each in a real sandbox."""

from __future__ import annotations

import pytest

from coderunner import run
from coderunner.language import Languages
from tests.support import EXAMPLES, require_sandbox, require_toolchain

pytestmark = [pytest.mark.engines, pytest.mark.languages]

# file, what it reads, what it writes
PROGRAMS = [
    ("Anagrams.java", "tea listen eat silent ate dog", "tea eat ate\ndog\nlisten silent\n"),
    ("bars.sh", "3\n5\n", "3 ###\n5 #####\n"),
    ("celsius.php", "212\n-40\n", "100.0\n-40.0\n"),
    ("collatz.go", "6 7 27", "6 8\n7 16\n27 111\n"),
    ("fizzbuzz.c", "5", "1\n2\nFizz\n4\nBuzz\n"),
    ("hanoi.lua", "2", "A -> B\nA -> C\nB -> C\n"),
    ("palindromes.pl", "Never odd or even\nnot this one\n", "Never odd or even\n"),
    ("primes.cpp", "20", "2\n3\n5\n7\n11\n13\n17\n19\n"),
    ("roman.rs", "4\n1994\n", "IV\nMCMXCIV\n"),
    ("rot13.rb", "Hello\n", "Uryyb\n"),
    ("shapes.ts", "", "circle: 3.14\nrectangle: 12.00\n"),
    ("total.js", '[{"price": 2.5, "count": 2}, {"price": 0.99}]', "5.99\n"),
    ("words.py", "the cat and the dog and the end", "3 the\n2 and\n1 cat\n"),
]


@pytest.mark.parametrize(("name", "stdin", "stdout"), PROGRAMS, ids=lambda value: value[:14])
def test_example(name: str, stdin: str, stdout: str) -> None:
    language = Languages().for_file(name).name
    require_sandbox()
    require_toolchain(language)
    result = run((EXAMPLES / name).read_bytes(), language=language, stdin=stdin.encode())
    assert result.stderr == ""
    assert result.stdout == stdout
    assert result.ok


def test_every_language_has_an_example() -> None:
    shown = {Languages().for_file(name).name for name, _, _ in PROGRAMS}
    assert shown == {language.name for language in Languages()}


def test_every_example_is_tested() -> None:
    files = {path.name for path in EXAMPLES.iterdir() if path.is_file()}
    elsewhere = {"demo.py", "sum.yaml"}  # `make demo`; docs/problems.md
    assert files - elsewhere == {name for name, _, _ in PROGRAMS}

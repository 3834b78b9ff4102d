from __future__ import annotations

import pytest

from coderunner.text import head_of

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("most", range(20))
def test_no_character_is_cut_in_two(most: int) -> None:
    text = "aé€😀b😀"
    kept = head_of(text.encode(), most)
    assert text.startswith(kept)
    assert len(kept.encode()) <= most
    rest = text[len(kept) :]
    assert not rest or len((kept + rest[0]).encode()) > most


def test_what_is_not_utf8_is_shown_as_such() -> None:
    assert head_of(b"a\xff\xfeb", 10) == "a��b"
    assert head_of(b"a\xff\xfeb", 3) == "a��"


def test_half_a_character_that_the_program_wrote_is_not_hidden() -> None:
    assert head_of("é".encode()[:1], 10) == "�"


@pytest.mark.parametrize("data", [b"\x80" * 9, b"a\x80\x80\x80\x80", b"\xf0\x9f\x98", b""])
def test_junk_is_never_more_than_was_asked_for(data: bytes) -> None:
    for most in range(len(data) + 1):
        assert len(head_of(data, most)) <= most

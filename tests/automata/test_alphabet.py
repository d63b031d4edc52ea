"""Characters become exactly their UTF-8 bytes, and their JSON spellings."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from constrain.automata.alphabet import json_spellings, plain_spellings
from constrain.syntax.charset import ANY, CharSet

code_points = st.integers(0, 0x10FFFF)
charsets = st.lists(st.tuples(code_points, code_points).map(sorted), min_size=1, max_size=4).map(
    lambda ranges: CharSet.of((low, high) for low, high in ranges)
)


def is_spelled(spellings: tuple[tuple[tuple[int, int], ...], ...], data: bytes) -> int:
    """Return how many of the sequences match `data`."""
    return sum(
        len(sequence) == len(data)
        and all(low <= byte <= high for byte, (low, high) in zip(data, sequence, strict=True))
        for sequence in spellings
    )


@given(charsets, st.characters(exclude_categories=["Cs"]))
def test_a_character_is_spelled_once_if_and_only_if_it_is_a_member(
    charset: CharSet, char: str
) -> None:
    assert is_spelled(plain_spellings(charset), char.encode()) == (ord(char) in charset)


@given(charsets)
def test_the_sequences_spell_as_many_texts_as_there_are_members(charset: CharSet) -> None:
    count = 0
    for sequence in plain_spellings(charset):
        product = 1
        for low, high in sequence:
            product *= high - low + 1
        count += product
    assert count == charset.size()


def test_all_of_unicode_takes_nine_sequences() -> None:
    assert len(plain_spellings(ANY)) == 9


@given(st.characters(exclude_categories=["Cs"]))
def test_json_spells_each_character_as_json_dumps_does(char: str) -> None:
    spelled = json.dumps(char, ensure_ascii=False)[1:-1]
    assert is_spelled(json_spellings(ANY), spelled.encode()) == 1


def test_json_takes_hex_digits_of_either_case_and_no_raw_control_character() -> None:
    spellings = json_spellings(ANY)
    assert is_spelled(spellings, b"\\u001F") == is_spelled(spellings, b"\\u001f") == 1
    assert not is_spelled(spellings, b"\x1f")
    assert not is_spelled(spellings, b'"')
    assert not is_spelled(spellings, b"\\")
    assert not is_spelled(spellings, b"\\u000a")

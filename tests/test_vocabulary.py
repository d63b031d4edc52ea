"""Vocabulary and trie: every token is found again, and padding stays padding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constrain.errors import VocabularyError
from constrain.vocabulary import TokenTrie, Vocabulary

token_lists = st.lists(st.none() | st.binary(max_size=4), max_size=30)


@given(token_lists)
def test_the_trie_spells_every_token_once(tokens: list[bytes | None]) -> None:
    trie = TokenTrie.build(tokens)
    spelled: dict[int, bytes] = {}
    path = bytearray()
    for node, byte in enumerate(trie.byte):
        del path[trie.depth[node] :]
        path.append(byte)
        for token in trie.token_ids[trie.first_token[node] : trie.first_token[node + 1]]:
            assert token not in spelled
            spelled[int(token)] = bytes(path)
    assert spelled == {i: token for i, token in enumerate(tokens) if token}


@given(token_lists)
def test_a_subtree_ends_where_the_depth_comes_back(tokens: list[bytes | None]) -> None:
    trie = TokenTrie.build(tokens)
    for node, end in enumerate(trie.subtree_end):
        assert all(trie.depth[node + 1 : end] > trie.depth[node])
        assert end == len(trie.byte) or trie.depth[end] <= trie.depth[node]


def test_end_tokens_lose_their_text() -> None:
    vocabulary = Vocabulary.of([b"a", b"</s>"], [1])
    assert vocabulary.tokens == (b"a", None)
    assert vocabulary.size == 2


def test_logits_may_be_wider_or_narrower_than_the_tokenizer() -> None:
    assert Vocabulary.of([b"a", b"b"], [1], size=128).size == 128
    narrow = Vocabulary.of([b"a", b"b", b"c", None], [1, 3], size=3)
    assert narrow.tokens == (b"a", None, b"c")
    assert narrow.eos_ids == (1,)


def test_a_vocabulary_needs_an_end_token() -> None:
    with pytest.raises(VocabularyError, match="end token"):
        Vocabulary.of([b"a"], [])


def test_fingerprints_tell_vocabularies_apart() -> None:
    one = Vocabulary.of([b"ab", b"c"], [1])
    assert one.fingerprint == Vocabulary.of([b"ab", b"c"], [1]).fingerprint
    others = [
        Vocabulary.of([b"a", b"bc"], [1]),
        Vocabulary.of([b"ab", b"c"], [0]),
        Vocabulary.of([b"ab", b"c"], [1], size=9),
        Vocabulary.of([b"ab", None], [1, 2]),
    ]
    assert len({v.fingerprint for v in [one, *others]}) == 5

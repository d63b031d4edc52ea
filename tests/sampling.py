"""Texts that a constraint lets through, byte by byte, at random."""

from __future__ import annotations

import random

import numpy as np

from constrain import MaskCache, Matcher
from constrain.bitmask import words
from tests.conformance.vocabularies import BYTES

__all__ = ["sampled"]

STRUCTURE = b'"{}[]:,0123456789ab-. tfn'


def sampled(masks: MaskCache, rng: random.Random, count: int) -> list[str]:
    """Return texts of random bytes, ended on a shortest way after a while."""
    found = []
    for _ in range(count):
        matcher, text = Matcher(masks.compiled, masks), b""
        length = rng.choice([0, 5, 20, 60])
        while not (matcher.is_accepting() and (len(text) >= length or rng.random() < 0.1)):
            allowed = _allowed(matcher)
            if not allowed:
                break
            byte = _choice(allowed, rng) if len(text) < length else _nearest(matcher, allowed)
            assert matcher.accept_token(byte)
            text += bytes([byte])
        assert matcher.is_accepting(), f"dead end after {text!r}"
        found.append(text.decode())
    return found


def _allowed(matcher: Matcher) -> list[int]:
    mask = np.zeros((1, words(BYTES.size)), dtype=np.int32)
    matcher.fill_next_token_bitmask(mask)
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little")
    return [int(token) for token in np.flatnonzero(bits) if token < 256]


def _choice(allowed: list[int], rng: random.Random) -> int:
    common = [byte for byte in allowed if byte in STRUCTURE]
    return rng.choice(common if common and rng.random() < 0.9 else allowed)


def _nearest(matcher: Matcher, allowed: list[int]) -> int:
    def distance(byte: int) -> int:
        fork = matcher.fork()
        fork.accept_token(byte)
        return fork.distance_to_accept()

    return min(allowed, key=distance)

"""Jitted kernels for guarded edges: which bytes and tokens may follow the siblings so far.

Arrays in, arrays out, over the nodes of `kernels` and the texts of `written`. A text is *at risk*
while an item or key under way could still become equal to a sibling. Where none is at risk the
automaton alone decides what can be completed; where one is, a way out is looked for, since the
siblings may have used up everything that could follow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from constrain.jit import jit
from constrain.kernels import DEAD, Configurations, step
from constrain.tables import Automaton
from constrain.written import (
    BETWEEN,
    DEPTH,
    KEY,
    LENGTH,
    MODE,
    NO_NUMBER,
    NUMBER,
    PLAIN_DIGITS,
    STARTS,
    UNGUARDED,
    VALUE,
    Scratch,
    Written,
    begins,
    finish_number,
    is_blank,
    restore,
    take,
)

__all__ = [
    "guarded_tokens",
    "live_after",
    "refuse_dead",
    "refuse_repeats",
    "take_bytes",
]

_DEEPEST = 200
"""How far `is_alive` looks. Beyond it a place counts as dead, which is strict but consistent."""


@jit
def _is_at_risk(s: Scratch) -> bool:
    """Return whether an item or key under way may still become a repetition.

    A number under way is looked at as if it ended here: its canonical spelling begins that of
    every number it can become, if it has no exponent and few digits. Otherwise there is a risk
    beside any sibling. `s.following` gets the bytes that go on as a sibling does.
    """
    w = s.now
    s.following[:] = False
    if w.at[DEPTH] == 0:
        return False
    number, n, kept = w.at[NUMBER], w.at[LENGTH], 0
    wild = False
    if number != NO_NUMBER:
        wild = _is_wild(w, number)
        kept = s.spare.shape[0] - (n - number)
        s.spare[kept:] = w.text[number:n]
        finish_number(s)
    found = False
    for d in range(w.at[DEPTH]):
        kind = w.opens[d, 0]
        if kind in (VALUE, UNGUARDED) or (kind == KEY and d != w.at[DEPTH] - 1):
            continue
        stop = w.opens[d + 1, 1] if d + 1 < w.at[DEPTH] else w.at[STARTS]
        found = _follow(s, w.opens[d, 1], stop - 1) or found
        found = found or (wild and stop - 1 > w.opens[d, 1])
    if number != NO_NUMBER:
        w.text[number:n] = s.spare[kept:]
        w.at[LENGTH], w.at[NUMBER] = n, number
    return found


@jit
def _is_wild(w: Written, number: int) -> bool:
    """Return whether the number under way has an exponent, or very many digits."""
    for i in range(number, w.at[LENGTH]):
        if w.text[i] in (0x65, 0x45):
            return True
    return w.at[LENGTH] - number > PLAIN_DIGITS - 5


@jit
def _follow(s: Scratch, first: int, last: int) -> bool:
    """Return whether an item from `first` on begins as `last` does; mark how they go on."""
    w = s.now
    start, n = w.starts[last], w.at[LENGTH]
    found = False
    for i in range(first, last):
        length = w.starts[i + 1] - 1 - w.starts[i]
        if length >= n - start and begins(w, w.starts[i], start, n):
            found = True
            if length > n - start:
                s.following[w.text[w.starts[i] + n - start]] = True
    return found


# ---------------------------------------------------------------- what can be completed


@jit
def _replay(
    a: Automaton, c: Configurations, saved: Written, s: Scratch, node: int, length: int
) -> int:
    """Return the node after the first `length` bytes of the path, from the saved text on."""
    restore(saved, s.now)
    for i in range(length):
        node = take(a, c, s, node, s.path[i])
        if node < 0:
            return node
    return node


@jit
def _is_alive(
    a: Automaton, c: Configurations, saved: Written, s: Scratch, start: int, length: int
) -> int:
    """Return 1 when the text after the path can be completed, 0 when not, or a code < DEAD.

    A way out is a byte after which nothing is at risk. Siblings are followed only where there is no
    such byte, depth first, and blanks only where nothing else may follow: they change no value.
    """
    base = length
    s.tried[0] = -1
    while True:
        level = length - base
        node = _replay(a, c, saved, s, start, length)
        if node < DEAD:
            return node
        between = s.now.at[MODE] == BETWEEN
        if s.tried[level] < 0:
            verdict = _way_out(a, c, saved, s, start, node, length)
            if verdict != 0:
                return verdict
            s.tried[level] = 0
        if level >= _DEEPEST or length >= s.path.shape[0]:
            s.tried[level] = 256
        found = False
        only_blanks = between and _wants_blank(a, c, node)
        while s.tried[level] < 256 and not found:
            byte = s.tried[level]
            s.tried[level] += 1
            if step(a, c, node, a.byte_class[byte]) < 0:
                continue
            if between and is_blank(byte) != only_blanks:
                continue
            s.path[length] = byte
            found = _replay(a, c, saved, s, start, length + 1) >= 0
        if found:
            length += 1
            s.tried[length - base] = -1
        elif length == base:
            return 0
        else:
            length -= 1


@jit
def _wants_blank(a: Automaton, c: Configurations, node: int) -> bool:
    """Return whether nothing but blanks may follow, as far as the automaton knows."""
    for byte in range(256):
        if not is_blank(byte) and step(a, c, node, a.byte_class[byte]) >= 0:
            return False
    return True


@jit
def _way_out(
    a: Automaton,
    c: Configurations,
    saved: Written,
    s: Scratch,
    start: int,
    node: int,
    length: int,
) -> int:
    """Return 1 when nothing is at risk after the path or some byte more, 0 when not, or a code."""
    if not _is_at_risk(s):
        return 1
    inside = s.now.at[MODE] != BETWEEN
    for byte in range(256):
        target = step(a, c, node, a.byte_class[byte])
        if target < DEAD:
            return target
        if target != DEAD and inside and not s.following[byte]:
            return 1
    if inside or length >= s.path.shape[0]:
        return 0
    for byte in range(256):
        if step(a, c, node, a.byte_class[byte]) == DEAD:
            continue
        s.path[length] = byte
        target = _replay(a, c, saved, s, start, length + 1)
        if target < DEAD:
            return target
        if target != DEAD and not _is_at_risk(s):
            return 1
    return 0


@jit
def take_bytes(
    a: Automaton,
    c: Configurations,
    saved: Written,
    s: Scratch,
    node: int,
    data: NDArray[np.uint8],
) -> int:
    """Return the node after `data` (n,) uint8, DEAD or a code; `s.now` is the text after it."""
    s.path[: data.shape[0]] = data
    verdict = _verdict(a, c, saved, s, node, data.shape[0])
    if verdict != 1:
        return DEAD if verdict == 0 else verdict
    return _replay(a, c, saved, s, node, data.shape[0])


@jit
def _verdict(
    a: Automaton, c: Configurations, saved: Written, s: Scratch, node: int, length: int
) -> int:
    """Return 1 when the path may follow the saved text, 0 when not, or a code < DEAD."""
    target = _replay(a, c, saved, s, node, length)
    if target < 0:
        return 0 if target == DEAD else target
    return _is_alive(a, c, saved, s, node, length) if _is_at_risk(s) else 1


@jit
def live_after(
    a: Automaton,
    c: Configurations,
    saved: Written,
    s: Scratch,
    node: int,
    live: NDArray[np.bool_],
) -> int:
    """Mark in `live` (256,) the bytes that may follow; return their number, or a code < DEAD."""
    count = 0
    for byte in range(256):
        if step(a, c, node, a.byte_class[byte]) == DEAD:
            continue
        s.path[0] = byte
        verdict = _verdict(a, c, saved, s, node, 1)
        if verdict < 0:
            return verdict
        live[byte] = verdict == 1
        count += verdict
    return count


# ---------------------------------------------------------------- tokens


@jit
def guarded_tokens(
    a: Automaton,
    c: Configurations,
    node: int,
    byte: NDArray[np.uint8],
    depth: NDArray[np.int32],
    subtree_end: NDArray[np.int32],
    first_token: NDArray[np.int32],
    token_ids: NDArray[np.int32],
    path: NDArray[np.int32],
    passed: NDArray[np.int64],
    some: NDArray[np.uint32],
    more: NDArray[np.uint32],
) -> int:
    """Set in `some` (words,) the bits of the tokens that pass a guarded edge after `node`.

    In `more` those that end two items or keys, so one at least that they begin. The trie is that of
    `vocabulary.TokenTrie`; `path` and `passed` (max_depth + 1,) are scratch. Returns 0, or a code
    < DEAD.
    """
    if node == DEAD:
        return 0
    path[0] = node
    passed[0] = 0  # twice the number of items and keys that have ended, and 1 for any guard
    i = 0
    while i < byte.shape[0]:
        level = depth[i]
        target = step(a, c, path[level], a.byte_class[byte[i]])
        if target < DEAD:
            return target
        if target == DEAD:
            i = subtree_end[i]
            continue
        guards = passed[level]
        if a.repeat_class[byte[i]] != a.byte_class[byte[i]]:
            unguarded = step(a, c, path[level], a.repeat_class[byte[i]])
            if unguarded < DEAD:
                return unguarded
            if unguarded != target:
                guards = (guards | 1) + (0 if byte[i] in (0x5B, 0x7B) else 2)
        path[level + 1] = target
        passed[level + 1] = guards
        if guards > 0:
            for t in range(first_token[i], first_token[i + 1]):
                token = token_ids[t]
                bit = np.uint32(1) << np.uint32(token & 31)
                some[token >> 5] |= bit
                if guards >= 4:
                    more[token >> 5] |= bit
        i += 1
    return 0


@jit
def refuse_repeats(
    a: Automaton,
    c: Configurations,
    saved: Written,
    s: Scratch,
    node: int,
    tokens: NDArray[np.int32],
    token_start: NDArray[np.int64],
    token_bytes: NDArray[np.uint8],
    row: NDArray[np.int32],
) -> int:
    """Clear in `row` those of `tokens` that may not follow the saved text; return 0 or a code.

    Token t has the bytes `token_bytes[token_start[t]:token_start[t + 1]]`.
    """
    for token in tokens:
        if (row[token >> 5] >> (token & 31)) & 1 == 0:
            continue
        first, last = token_start[token], token_start[token + 1]
        s.path[: last - first] = token_bytes[first:last]
        verdict = _verdict(a, c, saved, s, node, last - first)
        if verdict < 0:
            return verdict
        if verdict == 0:
            row[token >> 5] &= ~(np.int32(1) << np.int32(token & 31))
    return 0


@jit
def refuse_dead(
    a: Automaton,
    c: Configurations,
    saved: Written,
    s: Scratch,
    node: int,
    byte: NDArray[np.uint8],
    depth: NDArray[np.int32],
    subtree_end: NDArray[np.int32],
    first_token: NDArray[np.int32],
    token_ids: NDArray[np.int32],
    row: NDArray[np.int32],
) -> int:
    """Clear in `row` the tokens after which the text is at risk and has no way out.

    Walks the trie only along what siblings have. Tokens that pass a guarded edge may be judged here
    too. Returns 0 or a code.
    """
    restore(saved, s.now)
    if not _is_at_risk(s):
        return 0
    inside, known = False, -1  # of the place before the byte, looked at again at another level
    i = 0
    while i < byte.shape[0]:
        level = depth[i]
        if known != level:
            s.path[:level] = s.spelled[:level]
            at = _replay(a, c, saved, s, node, level)
            if at < DEAD:
                return at
            inside = s.now.at[MODE] != BETWEEN
            _is_at_risk(s)
            known = level
        if inside and not s.following[byte[i]]:
            i = subtree_end[i]
            continue
        s.spelled[level] = byte[i]
        s.path[: level + 1] = s.spelled[: level + 1]
        target = _replay(a, c, saved, s, node, level + 1)
        known = -1
        if target < DEAD:
            return target
        if target == DEAD or not _is_at_risk(s):
            i = subtree_end[i]
            continue
        if first_token[i] < first_token[i + 1]:
            alive = _is_alive(a, c, saved, s, node, level + 1)
            if alive < 0:
                return alive
            for t in range(first_token[i], first_token[i + 1]):
                token = token_ids[t]
                if alive == 0:
                    row[token >> 5] &= ~(np.int32(1) << np.int32(token & 31))
        i += 1
    return 0

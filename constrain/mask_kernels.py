"""Jitted kernels for masks: which places are alike, and which tokens may follow.

Arrays in, arrays out, over the nodes of `kernels`. The trie is that of `vocabulary.TokenTrie`,
plain characters are those of `constrain.plain`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from constrain.jit import inlined, kernel
from constrain.kernels import (
    BOTTOM,
    CUT,
    CUT_REACHED,
    DEAD,
    TOO_MANY,
    UNKNOWN,
    Configurations,
    intern_node,
    push_frame,
    step,
)
from constrain.tables import FIRST, HIGH, LAST, LEAST, NO_LOOP, UNBOUNDED, Automaton

__all__ = [
    "NOT_PLAIN",
    "abstract_node",
    "main_target",
    "plain_reach",
    "walk_beside",
    "walk_trie",
]

NOT_PLAIN = -6
"""It matters which plain characters follow."""


@kernel
def walk_trie(
    a: Automaton,
    c: Configurations,
    node: int,
    byte: NDArray[np.uint8],
    depth: NDArray[np.int32],
    subtree_end: NDArray[np.int32],
    first_token: NDArray[np.int32],
    token_ids: NDArray[np.int32],
    path: NDArray[np.int32],
    row: NDArray[np.uint32],
) -> int:
    """Set in `row` (words,) the bits of all tokens that may follow `node`; return 0 or a code.

    The trie is that of `vocabulary.TokenTrie`; `path` (max_depth + 1,) is scratch. Returns
    CUT_REACHED when a token returns into a CUT stack: the row is then not complete.
    """
    path[0] = node
    i = 0
    while i < byte.shape[0]:
        level = depth[i]
        byte_class = a.byte_class[byte[i]]
        target = c.next_node[path[level], byte_class]
        if target == UNKNOWN:
            target = step(a, c, path[level], byte_class)
            if target < DEAD:
                return target
        if target == DEAD:
            i = subtree_end[i]
            continue
        if c.node_flags[target] & CUT_REACHED:
            return CUT_REACHED
        path[level + 1] = target
        for t in range(first_token[i], first_token[i + 1]):
            token = token_ids[t]
            row[token >> 5] |= np.uint32(1) << np.uint32(token & 31)
        i += 1
    return 0


@kernel
def abstract_node(a: Automaton, c: Configurations, node: int, kept_frames: int, reach: int) -> int:
    """Return the node that stands for `node` when looking at most `reach` bytes ahead.

    Stacks are cut below `kept_frames` frames, and loop counts further than `reach` from both bounds
    are replaced by a representative (each return of an item reads a byte). Nodes that are alike
    this way have equal masks, unless the walk reaches a cut. Returns a code < 0 on trouble.
    """
    length = c.node_start[node + 1] - c.node_start[node]
    if length > c.found.shape[0]:
        return TOO_MANY
    frames = c.work_state  # scratch: the frames of one stack, top first
    for i in range(length):
        member = c.members[c.node_start[node] + i]
        stack = member & 0xFFFFFFFF
        height = 0
        while stack > CUT and height < kept_frames and height < frames.shape[0]:
            frames[height] = stack
            height += 1
            stack = c.frame_below[stack]
        if stack > CUT and height < kept_frames:
            return TOO_MANY
        below = BOTTOM if stack == BOTTOM else CUT
        for j in range(height - 1, -1, -1):
            f = frames[j]
            state = c.frame_return[f]
            count = c.frame_count[f]
            if a.loops[state, HIGH] != NO_LOOP:
                count = _alike(a, state, count, reach)
            below = push_frame(c, state, count, below)
            if below < 0:
                return below
        c.found[i] = (member >> 32 << 32) | np.int64(below)
    return intern_node(a, c, length, c.node_flags[node] & CUT_REACHED)


@inlined
def _alike(a: Automaton, head: int, count: int, reach: int) -> int:
    """Return the smallest count that no text of `reach` items can tell from `count`."""
    last = a.loops[head, LAST]
    if last != UNBOUNDED and count + reach >= last:
        return count
    if count >= a.loops[head, LEAST]:
        return a.loops[head, LEAST]
    return 0 if count + reach < a.loops[head, FIRST] else count


@kernel
def plain_reach(
    a: Automaton,
    c: Configurations,
    node: int,
    kept_frames: int,
    reach: int,
    writable: NDArray[np.bool_],
    most: int,
    paths: NDArray[np.int64],
) -> int:
    """Return how many plain characters (see constrain.plain) may follow `node`, at most `most`.

    NOT_PLAIN where it matters which they are, other codes < DEAD on trouble. A place alike in what
    `abstract_node` looks at stands for the place itself; `paths` (8,) is scratch.
    """
    at = node
    for count in range(most):
        target = _after_plain(a, c, at, writable, paths)
        if target == DEAD:
            return count
        if target < DEAD:
            return target
        alike = abstract_node(a, c, target, kept_frames, reach)
        if alike == DEAD:
            return count + 1
        if alike < DEAD:
            return alike
        if alike == at:
            return most
        at = alike
    return most


@kernel
def _after_plain(
    a: Automaton,
    c: Configurations,
    node: int,
    writable: NDArray[np.bool_],
    paths: NDArray[np.int64],
) -> int:
    """Return the one node, or DEAD, that every plain character leads to from `node`.

    Every state of a UTF-8 decoder (RFC 3629) must go with one node, `paths[u]` for state u,
    numbered by what is still to come. NOT_PLAIN when it is not so, or a CUT is reached.
    """
    paths[:] = UNKNOWN
    for byte in range(0x20, 0x80):
        if byte not in (0x22, 0x5C) and writable[byte]:
            target = _joins(a, c, paths, node, byte, 0)
            if target < DEAD:
                return target
    for byte in range(0xC2, 0xF5):
        if writable[byte]:
            target = _joins(a, c, paths, node, byte, _UTF8_LEAD[byte - 0xC2])
            if target < DEAD:
                return target
    for row in range(_UTF8_NEXT.shape[0]):
        state, low, high, following = _UTF8_NEXT[row]
        if paths[state] == UNKNOWN:
            continue
        for byte in range(low, high + 1):
            if writable[byte]:
                target = _joins(a, c, paths, paths[state], byte, following)
                if target < DEAD:
                    return target
    return NOT_PLAIN if paths[0] == UNKNOWN else paths[0]


_UTF8_LEAD = np.array([1] * 30 + [2] + [3] * 12 + [4] + [3] * 2 + [5] + [6] * 3 + [7])
"""The decoder's state after each lead byte from 0xC2 on."""
_UTF8_NEXT = np.array(
    [
        (5, 0x90, 0xBF, 3),
        (6, 0x80, 0xBF, 3),
        (7, 0x80, 0x8F, 3),
        (2, 0xA0, 0xBF, 1),
        (4, 0x80, 0x9F, 1),
        (3, 0x80, 0xBF, 1),
        (1, 0x80, 0xBF, 0),
    ]
)
"""(state, lowest byte, highest byte, next state): 0 is between characters; in order of reach."""


@inlined
def _joins(
    a: Automaton, c: Configurations, paths: NDArray[np.int64], node: int, byte: int, state: int
) -> int:
    """Return where `byte` leads from `node`, which must be the one node of decoder state `state`.

    NOT_PLAIN when it is another, or a CUT is reached.
    """
    target = DEAD if node == DEAD else step(a, c, node, a.byte_class[byte])
    if target < DEAD:
        return target
    if target != DEAD and c.node_flags[target] & CUT_REACHED:
        return NOT_PLAIN
    if paths[state] == UNKNOWN:
        paths[state] = target
    return target if target == paths[state] else NOT_PLAIN


@kernel
def main_target(a: Automaton, c: Configurations, node: int, heavy: NDArray[np.uint8]) -> int:
    """Return the node that most of the bytes `heavy` lead to from `node`, or a code <= DEAD.

    DEAD when it is no single node (majority vote of Boyer and Moore, 1981).
    """
    best, votes = DEAD, 0
    for byte in heavy:
        target = step(a, c, node, a.byte_class[byte])
        if target < DEAD:
            return target
        if target == best:
            votes += 1
        elif votes > 0:
            votes -= 1
        else:
            best, votes = target, 1
    return best


@kernel
def walk_beside(
    a: Automaton,
    c: Configurations,
    node: int,
    other: int,
    byte: NDArray[np.uint8],
    depth: NDArray[np.int32],
    subtree_end: NDArray[np.int32],
    first_token: NDArray[np.int32],
    token_ids: NDArray[np.int32],
    path: NDArray[np.int32],
    other_path: NDArray[np.int32],
    row: NDArray[np.uint32],
) -> int:
    """Turn `row`, the mask of `other`, into that of `node`; return as `walk_trie` does.

    Where both have come to the same node the rest is the same, so only differences are walked.
    """
    path[0] = node
    other_path[0] = other
    i = 0
    while i < byte.shape[0]:
        level = depth[i]
        byte_class = a.byte_class[byte[i]]
        target = DEAD if path[level] == DEAD else step(a, c, path[level], byte_class)
        beside = DEAD if other_path[level] == DEAD else step(a, c, other_path[level], byte_class)
        if target < DEAD or beside < DEAD:
            return min(target, beside)
        if target == beside:
            i = subtree_end[i]
            continue
        if target == DEAD:
            for t in range(first_token[i], first_token[subtree_end[i]]):
                token = token_ids[t]
                row[token >> 5] &= ~(np.uint32(1) << np.uint32(token & 31))
            i = subtree_end[i]
            continue
        if c.node_flags[target] & CUT_REACHED:
            return CUT_REACHED
        path[level + 1] = target
        other_path[level + 1] = beside
        for t in range(first_token[i], first_token[i + 1]):
            token = token_ids[t]
            row[token >> 5] |= np.uint32(1) << np.uint32(token & 31)
        i += 1
    return 0

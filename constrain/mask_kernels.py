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

__all__ = ["abstract_node", "is_plain", "walk_trie"]


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
    return intern_node(c, length, c.node_flags[node] & CUT_REACHED)


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
def is_plain(
    a: Automaton,
    c: Configurations,
    node: int,
    kept_frames: int,
    reach: int,
    writable: NDArray[np.bool_],
    paths: NDArray[np.int64],
) -> int:
    """Return 1 when any plain character (see constrain.plain) leads from `node` to its like.

    Alike is what `abstract_node` does not tell apart. Every state of a UTF-8 decoder (RFC 3629)
    must go with one node: `paths[u]` (8,) for state u, numbered by what is still to come (scratch).
    Returns 0 when it is not so, a code < DEAD on trouble.
    """
    for byte in range(0x20, 0x80):
        if byte in (0x22, 0x5C) or not writable[byte]:
            continue
        verdict = _leads_back(a, c, node, node, byte, kept_frames, reach)
        if verdict != 1:
            return verdict
    paths[:] = UNKNOWN
    for byte in range(0xC2, 0xF5):
        if writable[byte]:
            verdict = _leads_to(a, c, paths, node, byte, _UTF8_LEAD[byte - 0xC2])
            if verdict != 1:
                return verdict
    for row in range(_UTF8_NEXT.shape[0]):
        state, low, high, target = _UTF8_NEXT[row]
        for byte in range(low, high + 1):
            if paths[state] == UNKNOWN or not writable[byte]:
                continue
            if target == 0:
                verdict = _leads_back(a, c, node, paths[state], byte, kept_frames, reach)
            else:
                verdict = _leads_to(a, c, paths, paths[state], byte, target)
            if verdict != 1:
                return verdict
    return 1


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


@kernel
def _leads_to(
    a: Automaton, c: Configurations, paths: NDArray[np.int64], node: int, byte: int, state: int
) -> int:
    """Return 1 when `byte` leads from `node` to the one node of decoder state `state`."""
    target = step(a, c, node, a.byte_class[byte])
    if target < DEAD:
        return target
    if paths[state] == UNKNOWN:
        paths[state] = target
    return 1 if target != DEAD and target == paths[state] else 0


@kernel
def _leads_back(
    a: Automaton,
    c: Configurations,
    home: int,
    node: int,
    byte: int,
    kept_frames: int,
    reach: int,
) -> int:
    """Return 1 when `byte` leads from `node` to a node that is like `home`."""
    target = step(a, c, node, a.byte_class[byte])
    if target < DEAD:
        return target
    if target == home:
        return 1
    if target == DEAD or c.node_flags[target] & CUT_REACHED:
        return 0
    alike = abstract_node(a, c, target, kept_frames, reach)
    if alike < DEAD:
        return alike
    return 1 if alike == home else 0

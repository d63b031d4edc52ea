"""Jitted kernels: the configurations of an automaton, determinised lazily.

Arrays in, arrays out; no Python objects. A *configuration* is a state and a stack. Stacks are
hash-consed linked frames, so one integer names a whole stack. A *node* is a closed set of
configurations, hash-consed too: it plays the state of a deterministic automaton that is built
only where matching goes (as the lazy DFA of RE2 and regex-automata, here over stacks).

Kernels never allocate. One that runs out of room returns NEED_ROOM and has changed nothing that
matters; the caller makes the arrays larger and calls again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from constrain.jit import inlined, kernel
from constrain.tables import HIGH, LEAST, LOW, NO_LOOP, UNBOUNDED, Automaton

__all__ = [
    "ACCEPTING",
    "BOTTOM",
    "BROKEN",
    "CUT",
    "CUT_REACHED",
    "DEAD",
    "NEED_ROOM",
    "TOO_MANY",
    "UNKNOWN",
    "Configurations",
    "adopt_node",
    "intern_node",
    "live_bytes",
    "push_frame",
    "rehash_frames",
    "rehash_nodes",
    "start_node",
    "step",
    "walk_bytes",
]

DEAD = -1
UNKNOWN = -2
NEED_ROOM = -3
TOO_MANY = -4
BROKEN = -5

BOTTOM = 0
"""The stack without frames: returning ends the text."""
CUT = 1
"""A stack whose frames were cut off: where it returns to is not known."""

ACCEPTING = 1
"""Node flag: the text may end here."""
CUT_REACHED = 2
"""Node flag: some configuration returned into a CUT stack, so the node is not all there is."""


class Configurations(NamedTuple):
    """The growing arrays. F frames, N nodes, M node members, K byte classes, W work items."""

    frame_return: NDArray[np.int32]  # (F,)
    frame_count: NDArray[np.int64]  # (F,) loop count to go on with
    frame_below: NDArray[np.int32]  # (F,)
    frame_table: NDArray[np.int32]  # (power of two,) hash table of frames, -1 free
    node_start: NDArray[np.int32]  # (N + 1,)
    node_flags: NDArray[np.uint8]  # (N,)
    node_table: NDArray[np.int32]  # (power of two,) hash table of nodes, -1 free
    members: NDArray[np.int64]  # (M,) state << 32 | stack, sorted within a node
    next_node: NDArray[np.int32]  # (N, K) node after a byte of the class, DEAD or UNKNOWN
    used: NDArray[np.int64]  # (4,) frames, nodes, spare, stamp of the visited table
    work_state: NDArray[np.int32]  # (W,)
    work_count: NDArray[np.int64]  # (W,)
    work_stack: NDArray[np.int32]  # (W,)
    found: NDArray[np.int64]  # (W,)
    visited_key: NDArray[np.int64]  # (2 W,) state << 32 | stack
    visited_count: NDArray[np.int64]  # (2 W,)
    visited_stamp: NDArray[np.int64]  # (2 W,)


@inlined
def _mix(value: int) -> int:
    """Scramble 64 bits (the finaliser of MurmurHash3, Appleby 2011), to a non-negative number."""
    x = np.uint64(value)
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xFF51AFD7ED558CCD)
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xC4CEB9FE1A85EC53)
    x ^= x >> np.uint64(33)
    return np.int64(x & np.uint64(0x7FFFFFFFFFFFFFFF))


@inlined
def _frame_hash(state: int, count: int, below: int) -> int:
    return _mix((np.int64(state) << 32) ^ np.int64(below) ^ (np.int64(count) * 0x9E3779B97F4A7))


@inlined
def _members_hash(members: NDArray[np.int64], flags: int) -> int:
    mixed = np.int64(flags)
    for member in members:
        mixed = _mix(mixed ^ member) + np.int64(1)
    return _mix(mixed)


@kernel
def rehash_frames(c: Configurations) -> None:
    """Fill the empty hash table of frames whose arrays were made larger."""
    room = c.frame_table.shape[0] - 1
    for f in range(CUT + 1, c.used[0]):
        slot = _frame_hash(c.frame_return[f], c.frame_count[f], c.frame_below[f]) & room
        while c.frame_table[slot] >= 0:
            slot = (slot + 1) & room
        c.frame_table[slot] = f


@kernel
def rehash_nodes(c: Configurations) -> None:
    """Fill the empty hash table of nodes whose arrays were made larger."""
    room = c.node_table.shape[0] - 1
    for n in range(c.used[1]):
        members = c.members[c.node_start[n] : c.node_start[n + 1]]
        slot = _members_hash(members, c.node_flags[n]) & room
        while c.node_table[slot] >= 0:
            slot = (slot + 1) & room
        c.node_table[slot] = n


@inlined
def push_frame(c: Configurations, state: int, count: int, below: int) -> int:
    """Return the stack with one more frame, or NEED_ROOM."""
    room = c.frame_table.shape[0] - 1
    slot = _frame_hash(state, count, below) & room
    while c.frame_table[slot] >= 0:
        f = c.frame_table[slot]
        if c.frame_return[f] == state and c.frame_count[f] == count and c.frame_below[f] == below:
            return f
        slot = (slot + 1) & room
    f = c.used[0]
    if f >= c.frame_return.shape[0]:
        return NEED_ROOM
    c.frame_return[f] = state
    c.frame_count[f] = count
    c.frame_below[f] = below
    c.frame_table[slot] = f
    c.used[0] = f + 1
    return f


@inlined
def _push(c: Configurations, size: int, state: int, count: int, stack: int) -> int:
    """Put a work item down unless it was seen; return the new size, or TOO_MANY."""
    key = (np.int64(state) << 32) | np.int64(stack)
    room = c.visited_key.shape[0] - 1
    slot = _mix(key ^ (np.int64(count) << 20)) & room
    stamp = c.used[3]
    probes = 0
    while c.visited_stamp[slot] == stamp:
        if c.visited_key[slot] == key and c.visited_count[slot] == count:
            return size
        slot = (slot + 1) & room
        probes += 1
        if probes > room:
            return TOO_MANY
    if size >= c.work_state.shape[0]:
        return TOO_MANY
    c.visited_stamp[slot] = stamp
    c.visited_key[slot] = key
    c.visited_count[slot] = count
    c.work_state[size] = state
    c.work_count[size] = count
    c.work_stack[size] = stack
    return size + 1


@inlined
def _return(c: Configurations, size: int, stack: int) -> int:
    """Go back to the caller of a stack that has frames."""
    return _push(c, size, c.frame_return[stack], c.frame_count[stack], c.frame_below[stack])


@kernel
def _close(a: Automaton, c: Configurations, size: int) -> int:
    """Close the work items under silent moves and intern the node; return it, or a code < 0."""
    flags = 0
    kept = 0
    while size > 0:
        size -= 1
        s, count, stack = c.work_state[size], c.work_count[size], c.work_stack[size]
        is_loop = a.loops[s, HIGH] != NO_LOOP
        if a.is_return[s] and (not is_loop or count >= a.loops[s, LEAST]):
            if stack == BOTTOM:
                flags |= ACCEPTING
            elif stack == CUT:
                flags |= CUT_REACHED
            else:
                size = _return(c, size, stack)
                if size < 0:
                    return size
        if a.edge_start[s] < a.edge_start[s + 1]:
            if kept >= c.found.shape[0]:
                return TOO_MANY
            c.found[kept] = (np.int64(s) << 32) | np.int64(stack)
            kept += 1
        for i in range(a.epsilon_start[s], a.epsilon_start[s + 1]):
            size = _push(c, size, a.epsilon_target[i], 0, stack)
            if size < 0:
                return size
        following = 0
        if is_loop:
            following = count + 1
            if a.loops[s, HIGH] == UNBOUNDED:
                following = min(following, a.loops[s, LEAST])
        for i in range(a.call_start[s], a.call_start[s + 1]):
            if is_loop and not _can_end(a, a.call_return[i], following):
                continue
            f = push_frame(c, a.call_return[i], following, stack)
            if f < 0:
                return f
            size = _push(c, size, a.call_entry[i], 0, f)
            if size < 0:
                return size
    return intern_node(a, c, kept, flags)


@inlined
def _can_end(a: Automaton, head: int, count: int) -> bool:
    """Return whether a loop can end well when `head` is reached with `count`."""
    high = a.loops[head, HIGH]
    return a.loops[head, LOW] <= count and (high == UNBOUNDED or count <= high)


@inlined
def _open_row(a: Automaton, c: Configurations, node: int) -> None:
    """Begin the transitions of a new node: DEAD where no edge goes on, the others UNKNOWN."""
    row = c.next_node[node]
    row[:] = DEAD
    for k in range(a.byte_class[255] + 1, row.shape[0]):  # classes after a repetition
        row[k] = UNKNOWN
    for i in range(c.node_start[node], c.node_start[node + 1]):
        s = c.members[i] >> 32
        for e in range(a.edge_start[s], a.edge_start[s + 1]):
            for k in range(a.byte_class[a.edge_low[e]], a.byte_class[a.edge_high[e]] + 1):
                row[k] = UNKNOWN


@inlined
def _sort(values: NDArray[np.int64], count: int) -> None:
    """Sort the first `count` values (Shell 1959; gaps of Knuth, volume 3): no room is needed."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            value = values[i]
            j = i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@kernel
def intern_node(a: Automaton, c: Configurations, kept: int, flags: int) -> int:
    """Return the node of the members in `found[:kept]` (sorted, made unique), or NEED_ROOM."""
    if kept == 0 and flags == 0:
        return DEAD
    _sort(c.found, kept)
    unique = 0
    for i in range(kept):
        if unique > 0 and c.found[i] == c.found[unique - 1]:
            continue
        c.found[unique] = c.found[i]
        unique += 1
    room = c.node_table.shape[0] - 1
    slot = _members_hash(c.found[:unique], flags) & room
    while c.node_table[slot] >= 0:
        n = c.node_table[slot]
        first = c.node_start[n]
        if c.node_flags[n] == flags and c.node_start[n + 1] - first == unique:
            same = True
            for i in range(unique):
                if c.members[first + i] != c.found[i]:
                    same = False
                    break
            if same:
                return n
        slot = (slot + 1) & room
    n = c.used[1]
    first = c.node_start[n]
    if n >= c.node_flags.shape[0] or first + unique > c.members.shape[0]:
        return NEED_ROOM
    for i in range(unique):
        c.members[first + i] = c.found[i]
    c.node_flags[n] = flags
    c.node_start[n + 1] = first + unique
    _open_row(a, c, n)
    c.node_table[slot] = n
    c.used[1] = n + 1
    return n


@kernel
def start_node(a: Automaton, c: Configurations) -> int:
    """Return the node before the first byte, or a code < 0."""
    c.used[3] += 1
    return _close(a, c, _push(c, 0, a.start[0], 0, BOTTOM))


@inlined
def step(a: Automaton, c: Configurations, node: int, byte_class: int) -> int:
    """Return the node after a byte of `byte_class`, DEAD, or a code < DEAD."""
    known = c.next_node[node, byte_class]
    return known if known != UNKNOWN else _new_step(a, c, node, byte_class)


@kernel
def _new_step(a: Automaton, c: Configurations, node: int, byte_class: int) -> int:
    """Compute and remember the node after a byte of `byte_class`; DEAD, or a code < DEAD.

    The bytes around it that take the same edges lead to the same node, so theirs are known too.
    """
    byte = a.class_byte[byte_class] & 255
    repeats = a.class_byte[byte_class] > 255
    low, high = 0, 255
    c.used[3] += 1
    size = 0
    for i in range(c.node_start[node], c.node_start[node + 1]):
        s = c.members[i] >> 32
        stack = c.members[i] & 0xFFFFFFFF
        for e in range(a.edge_start[s], a.edge_start[s + 1]):
            first, last = int(a.edge_low[e]), int(a.edge_high[e])
            if last < byte:
                low = max(low, last + 1)
            elif first > byte:
                high = min(high, first - 1)
            else:
                low, high = max(low, first), min(high, last)
                if repeats and a.edge_guarded[e]:
                    continue
                size = _push(c, size, a.edge_target[e], 0, stack)
                if size < 0:
                    return size
    target = DEAD if size == 0 else _close(a, c, size)
    if target >= DEAD:
        c.next_node[node, byte_class] = target
        if not repeats:
            c.next_node[node, a.byte_class[low] : a.byte_class[high] + 1] = target
    return target


@kernel
def walk_bytes(a: Automaton, c: Configurations, node: int, data: NDArray[np.uint8]) -> int:
    """Return the node after all bytes of `data` (n,) uint8, DEAD, or a code < DEAD."""
    for byte in data:
        node = step(a, c, node, a.byte_class[byte])
        if node < 0:
            return node
    return node


@kernel
def live_bytes(a: Automaton, c: Configurations, node: int, live: NDArray[np.bool_]) -> int:
    """Mark in `live` (256,) the bytes that may follow; return their number, or a code < DEAD."""
    count = 0
    for byte in range(256):
        target = step(a, c, node, a.byte_class[byte])
        if target < DEAD:
            return target
        live[byte] = target != DEAD
        count += target != DEAD
    return count


@kernel
def adopt_node(
    a: Automaton,
    c: Configurations,
    states: NDArray[np.int64],
    starts: NDArray[np.int64],
    frames: NDArray[np.int64],
    flags: int,
) -> int:
    """Intern a node given as states (n,) and their frames (m, 2), rows `starts` (n + 1,)."""
    if states.shape[0] > c.found.shape[0]:
        return TOO_MANY
    for i in range(states.shape[0]):
        stack = BOTTOM
        for j in range(starts[i], starts[i + 1]):
            stack = push_frame(c, frames[j, 0], frames[j, 1], stack)
            if stack < 0:
                return stack
        c.found[i] = (states[i] << 32) | np.int64(stack)
    return intern_node(a, c, states.shape[0], flags)

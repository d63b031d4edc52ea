"""The automaton of one constraint, determinised as far as matching has gone.

Owns the growing arrays that the kernels write; gives nodes (integers). Knows bytes, not tokens.
One instance serves all matchers of a constraint, from one thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain import kernels, mask_kernels
from constrain.errors import LimitExceeded
from constrain.kernels import ACCEPTING, BOTTOM, CUT, DEAD, NEED_ROOM, TOO_MANY, UNKNOWN
from constrain.limits import Limits
from constrain.mask_kernels import NOT_PLAIN
from constrain.tables import NO_LOOP, Automaton
from constrain.vocabulary import TokenTrie

__all__ = ["LazyAutomaton", "Moment"]

Moment = tuple[int, tuple[tuple[int, tuple[tuple[int, int], ...]], ...]]
"""A node spelled out: its flags, then (state, frames from the bottom as (return state, count))."""

_FRAMES, _NODES, _MEMBERS, _FIRST_WORK, _WORK = 1024, 512, 4096, 512, 1 << 15


class LazyAutomaton:
    """Nodes of `automaton`, made on demand. `start` is the node before the first byte.

    `nbytes` is what the arrays take.
    """

    def __init__(self, automaton: Automaton, limits: Limits) -> None:
        self.automaton = automaton
        self._limits = limits
        self._hold(_allocate(_FRAMES, _NODES, _MEMBERS, len(automaton.class_byte)))
        self.start = self.run(kernels.start_node)

    @property
    def nodes(self) -> int:
        """How many nodes there are so far."""
        return int(self._arrays.used[1])

    def step(self, node: int, data: bytes) -> int:
        """Return the node after all bytes of `data`, or DEAD."""
        classes, known = self.automaton.byte_class, self._arrays.next_node
        for position, byte in enumerate(data):
            target = known[node, classes[byte]]
            if target == UNKNOWN:
                rest = np.frombuffer(data, dtype=np.uint8)[position:]
                return self.run(kernels.walk_bytes, node, rest)
            if target == DEAD:
                return DEAD
            node = target
        return int(node)

    def is_accepting(self, node: int) -> bool:
        """Return whether the text may end at `node`."""
        return bool(self._arrays.node_flags[node] & ACCEPTING)

    def has_next(self, node: int) -> bool:
        """Return whether any byte may follow `node`."""
        first, last = self._arrays.node_start[node : node + 2]
        return bool(first < last)

    def live_bytes(self, node: int) -> NDArray[np.bool_]:
        """Return which bytes may follow `node`, shape (256,)."""
        live = np.zeros(256, dtype=np.bool_)
        self.run(kernels.live_bytes, node, live)
        return live

    def abstract(self, node: int, kept_frames: int, reach: int) -> int:
        """Return the node that has the same tokens for a walk of `reach` bytes (see kernels)."""
        return self.run(mask_kernels.abstract_node, node, kept_frames, reach)

    def plain_reach(
        self, node: int, kept_frames: int, reach: int, writable: NDArray[np.bool_], most: int
    ) -> int | None:
        """Return how many plain characters may follow; None where it matters which they are."""
        paths = np.empty(8, dtype=np.int64)
        outcome = self.run(
            mask_kernels.plain_reach, node, kept_frames, reach, writable, most, paths
        )
        return None if outcome == NOT_PLAIN else outcome

    def main_target(self, node: int, heavy: NDArray[np.uint8]) -> int:
        """Return the node that most of the bytes `heavy` (n,) lead to, or DEAD."""
        return self.run(mask_kernels.main_target, node, heavy)

    def walk_trie(
        self, node: int, trie: TokenTrie, path: NDArray[np.int32], row: NDArray[np.uint32]
    ) -> bool:
        """Set the bits of all tokens that may follow; False: the walk reached a cut stack."""
        return self.run(mask_kernels.walk_trie, node, *trie.columns, path, row) == 0

    def walk_beside(
        self,
        node: int,
        other: int,
        trie: TokenTrie,
        paths: NDArray[np.int32],
        row: NDArray[np.uint32],
    ) -> bool:
        """Turn the mask of `other` into that of `node`; False: the walk reached a cut stack."""
        kernel = mask_kernels.walk_beside
        return self.run(kernel, node, other, *trie.columns, paths[0], paths[1], row) == 0

    def distance(self, node: int) -> int:
        """Return the fewest bytes from `node` to the end of a text (0 when it may end here)."""
        if self.is_accepting(node):
            return 0
        _, members = self.describe(node)
        far = self.automaton.distance
        return min(
            int(far[state]) + sum(self._frame_distance(*frame) for frame in frames)
            for state, frames in members
        )

    def describe(self, node: int) -> Moment:
        """Return `node` in words that another LazyAutomaton of the same tables understands."""
        c = self._arrays
        members = c.members[c.node_start[node] : c.node_start[node + 1]].tolist()
        spelled = tuple((m >> 32, self._frames(m & 0xFFFFFFFF)) for m in members)
        return int(c.node_flags[node]), spelled

    def adopt(self, moment: Moment) -> int:
        """Return the node that `describe` spelled out elsewhere."""
        flags, members = moment
        return self.run(kernels.adopt_node, *_columns(members), flags)

    def run(self, kernel: Callable[..., int], *arguments: Any) -> int:
        """Call a kernel on the automaton and its nodes, with more room as often as it asks."""
        while True:
            outcome = int(kernel(self.automaton, self._arrays, *arguments))
            if outcome == NEED_ROOM:
                self._hold(_enlarged(self._arrays))
            elif outcome == TOO_MANY and len(self._arrays.work_state) < _WORK:
                work = _work_arrays(8 * len(self._arrays.work_state))
                self._hold(self._arrays._replace(**work))
            elif outcome == TOO_MANY:
                raise LimitExceeded("configurations", given=_WORK + 1, allowed=_WORK)
            else:
                return outcome

    def _hold(self, arrays: kernels.Configurations) -> None:
        """Take the arrays; `nbytes` is looked at before every token, so it is kept."""
        self._arrays = arrays
        self.nbytes = sum(array.nbytes for array in arrays)

    def _frames(self, stack: int) -> tuple[tuple[int, int], ...]:
        c = self._arrays
        frames: list[tuple[int, int]] = []
        while stack != BOTTOM:
            frames.append((int(c.frame_return[stack]), int(c.frame_count[stack])))
            stack = int(c.frame_below[stack])
        return tuple(reversed(frames))

    def _frame_distance(self, state: int, count: int) -> int:
        a = self.automaton
        least, _, high, _, _, shortest, cost = a.loops[state].tolist()
        if high == NO_LOOP:
            return int(a.distance[state])
        calls = max(shortest, least - count)
        if calls <= 0:
            return 0
        return int(calls * (cost or a.distance[a.call_entry[a.call_start[state]]]))


def _columns(
    members: tuple[tuple[int, tuple[tuple[int, int], ...]], ...],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    states = np.array([state for state, _ in members], dtype=np.int64)
    starts = np.zeros(len(members) + 1, dtype=np.int64)
    np.cumsum([len(frames) for _, frames in members], out=starts[1:])
    flat = [frame for _, frames in members for frame in frames]
    return states, starts, np.array(flat, dtype=np.int64).reshape(-1, 2)


def _allocate(frames: int, nodes: int, members: int, classes: int) -> kernels.Configurations:
    arrays = kernels.Configurations(
        frame_return=np.zeros(frames, dtype=np.int32),
        frame_count=np.zeros(frames, dtype=np.int64),
        frame_below=np.zeros(frames, dtype=np.int32),
        frame_table=np.full(2 * frames, -1, dtype=np.int32),
        node_start=np.zeros(nodes + 1, dtype=np.int32),
        node_flags=np.zeros(nodes, dtype=np.uint8),
        node_table=np.full(2 * nodes, -1, dtype=np.int32),
        members=np.zeros(members, dtype=np.int64),
        next_node=np.empty((nodes, classes), dtype=np.int32),
        used=np.zeros(4, dtype=np.int64),
        **_work_arrays(_FIRST_WORK),
    )
    arrays.used[0] = CUT + 1
    return arrays


def _work_arrays(size: int) -> dict[str, NDArray[Any]]:
    """Return the scratch of `Configurations` for so many work items; most texts need few."""
    return {
        "work_state": np.zeros(size, dtype=np.int32),
        "work_count": np.zeros(size, dtype=np.int64),
        "work_stack": np.zeros(size, dtype=np.int32),
        "found": np.zeros(size, dtype=np.int64),
        "visited_key": np.zeros(2 * size, dtype=np.int64),
        "visited_count": np.zeros(2 * size, dtype=np.int64),
        "visited_stamp": np.zeros(2 * size, dtype=np.int64),
    }


def _enlarged(old: kernels.Configurations) -> kernels.Configurations:
    """Return the arrays with twice the room of the kind that is full."""
    frames, nodes = len(old.frame_return), len(old.node_flags)
    if old.used[0] >= frames:
        new = old._replace(
            frame_return=_grown(old.frame_return),
            frame_count=_grown(old.frame_count),
            frame_below=_grown(old.frame_below),
            frame_table=np.full(4 * frames, -1, dtype=np.int32),
        )
        kernels.rehash_frames(new)
    elif old.used[1] >= nodes:
        new = old._replace(
            node_start=np.append(old.node_start, np.zeros(nodes, dtype=np.int32)),
            node_flags=_grown(old.node_flags),
            node_table=np.full(4 * nodes, -1, dtype=np.int32),
            next_node=_grown(old.next_node),
        )
        kernels.rehash_nodes(new)
    else:
        new = old._replace(members=_grown(old.members))
    return new


def _grown(array: NDArray[Any]) -> NDArray[Any]:
    larger = np.empty((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger

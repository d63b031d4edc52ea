"""Matcher: one text under way, and what may come next.

Takes token ids (or bytes), fills token masks. Small and mutable; everything heavy is shared in a
MaskCache. Outcomes are values (`accept_token` returns False when the token is refused); misuse
raises MatcherError.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from constrain.configurations import LazyAutomaton
from constrain.errors import MatcherError
from constrain.kernels import DEAD
from constrain.masks import MaskCache
from constrain.siblings import NOTHING_WRITTEN, Written
from constrain.tables import CompiledConstraint

__all__ = ["Matcher"]

_ENDED = -100


class Matcher:
    """Follows one text through `compiled`. Give all matchers of a constraint one `masks`."""

    __slots__ = ("_eos_ids", "_history", "_lazy", "_masks", "_node", "_written")

    def __init__(self, compiled: CompiledConstraint, masks: MaskCache | None = None) -> None:
        if masks is not None and masks.compiled is not compiled:
            raise MatcherError("the mask cache belongs to another constraint")
        self._masks = masks or MaskCache(compiled)
        self._eos_ids = compiled.vocabulary.eos_ids
        self._lazy: LazyAutomaton = self._masks.lazy
        self._node = self._lazy.start
        self._written = NOTHING_WRITTEN
        self._history: list[tuple[LazyAutomaton, int, Written]] = []

    def fill_next_token_bitmask(self, bitmask: NDArray[np.int32], row: int = 0) -> None:
        """Write into `bitmask[row]`, shape (batch, words), exactly the tokens that may follow.

        After the end nothing may follow. Extra words are set to zero.
        """
        if self._node == _ENDED:
            bitmask[row] = 0
            return
        self._follow_cache()
        self._masks.fill(self._node, bitmask[row])
        self._masks.refuse_repeats(self._node, self._written, bitmask[row])

    def accept_token(self, token_id: int) -> bool:
        """Take `token_id`; False, and nothing changes, when it may not follow.

        An end token is taken where the text may end; after it `is_terminated` holds. Raises
        MatcherError when the text has ended already.
        """
        self._refuse_ended()
        self._follow_cache()
        if token_id in self._eos_ids:
            return self._move(_ENDED if self._lazy.is_accepting(self._node) else DEAD)
        target = self._masks.after_token(self._node, token_id)
        watched = self._written is not NOTHING_WRITTEN
        if target != DEAD and (watched or self._masks.is_guarded(self._node, token_id)):
            return self._write(self._masks.spelled(token_id))
        return self._move(target)

    def accept_bytes(self, data: bytes) -> bool:
        """Take `data` as one step; False, and nothing changes, when it may not follow."""
        self._refuse_ended()
        self._follow_cache()
        return self._write(data)

    def rollback(self, steps: int) -> None:
        """Undo the last `steps` accepted tokens; raises MatcherError when there are fewer."""
        if not 0 <= steps <= len(self._history):
            raise MatcherError(f"cannot undo {steps} of {len(self._history)} accepted tokens")
        if steps:
            self._lazy, self._node, self._written = self._history[-steps]
            del self._history[-steps:]

    def is_accepting(self) -> bool:
        """Return whether the text so far satisfies the constraint as a whole."""
        return self._node == _ENDED or self._lazy.is_accepting(self._node)

    def is_terminated(self) -> bool:
        """Return whether an end token has been taken."""
        return self._node == _ENDED

    def forced_bytes(self, limit: int = 4096) -> bytes:
        """Return the bytes, at most `limit`, that must follow because nothing else may."""
        forced = bytearray()
        if self._node == _ENDED:
            return b""
        self._follow_cache()
        node, written = self._node, self._written
        while len(forced) < limit and not self._lazy.is_accepting(node):
            live = np.flatnonzero(self._masks.live_bytes(node, written))
            if len(live) != 1:
                break
            forced.append(int(live[0]))
            node, written = self._masks.after_bytes(node, written, bytes(forced[-1:]))
        return bytes(forced)

    def distance_to_accept(self) -> int:
        """Return the fewest bytes to a text that may end: an upper bound of the tokens needed."""
        return 0 if self._node == _ENDED else self._lazy.distance(self._node)

    def fork(self) -> Matcher:
        """Return an independent matcher at the same place, with the same history."""
        twin = Matcher(self._masks.compiled, self._masks)
        twin._lazy, twin._node, twin._written = self._lazy, self._node, self._written
        twin._history = self._history.copy()
        return twin

    def _write(self, data: bytes) -> bool:
        """Take bytes that may open, close or continue what siblings are told apart in."""
        return self._move(*self._masks.after_bytes(self._node, self._written, data))

    def _move(self, target: int, written: Written = NOTHING_WRITTEN) -> bool:
        if target == DEAD:
            return False
        self._history.append((self._lazy, self._node, self._written))
        self._node, self._written = target, written
        return True

    def _refuse_ended(self) -> None:
        if self._node == _ENDED:
            raise MatcherError("the text has ended: nothing can follow an end token")

    def _follow_cache(self) -> None:
        """Carry the place over when the cache has started afresh."""
        self._masks.renewed()
        if self._lazy is not self._masks.lazy:
            moment = self._lazy.describe(self._node)
            self._lazy = self._masks.lazy
            self._node = self._lazy.adopt(moment)

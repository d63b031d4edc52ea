"""Parts of automata that many constraints share, built once in a process.

Bounded by the edges it holds, the least recently used go first. Safe between threads: at worst a
part is built twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock

from constrain.automata.sketch import Fragment

__all__ = ["FragmentCache"]

_MAX_EDGES = 400_000
_MAX_SHARE = 20
"""One part takes at most this fraction (a twentieth) of the room, or is not kept."""


class FragmentCache:
    """Fragments by the expression they were built from; room for `max_edges`."""

    def __init__(self, max_edges: int = _MAX_EDGES) -> None:
        self._max_edges = max_edges
        self._kept: dict[Hashable, Fragment] = {}
        self._edges = 0
        self._lock = Lock()

    def get(self, key: Hashable, build: Callable[[], Fragment]) -> Fragment:
        """Return the fragment of `key`; what `build` gives when it is not known."""
        with self._lock:
            found = self._kept.pop(key, None)
            if found is not None:
                self._kept[key] = found
                return found
        found = build()
        if _size(found) * _MAX_SHARE <= self._max_edges:
            self._keep(key, found)
        return found

    def _keep(self, key: Hashable, fragment: Fragment) -> None:
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = fragment
            self._edges += _size(fragment)
            while self._edges > self._max_edges:
                oldest = next(iter(self._kept))
                self._edges -= _size(self._kept.pop(oldest))


def _size(fragment: Fragment) -> int:
    return len(fragment.edges) + len(fragment.epsilons) + fragment.states

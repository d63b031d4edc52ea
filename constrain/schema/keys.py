"""Questions about the keys of an object atom: which rules hold for a name, which names are known.

Takes atoms and names; gives claims and bools. Knows no schema and builds no expression.
"""

from __future__ import annotations

from constrain.schema.membership import contains
from constrain.schema.types import FALSE, Claims, KeySet, ObjectAtom, both

__all__ = ["KeyClaims", "closed_names", "holds_key", "known_names"]


def holds_key(keys: KeySet, name: str) -> bool:
    """Return whether a name is in the set."""
    inside = name in keys.names or any(contains(pattern, name) for pattern in keys.patterns)
    return inside != keys.outside


class KeyClaims:
    """What the value of each key of one atom must fulfil."""

    def __init__(self, atom: ObjectAtom) -> None:
        self._named = dict(atom.named)
        self._rules = atom.rules

    def of(self, name: str) -> Claims:
        """Return the claims for the value of a key."""
        found = self._named.get(name, ())
        for keys, claims in self._rules:
            if holds_key(keys, name):
                found = both(found, claims)
        return found


def known_names(atom: ObjectAtom) -> tuple[str, ...]:
    """Return every name the atom mentions: declared, then required, then others."""
    others = (name for name, _ in atom.named)
    listed = (
        name
        for keys in (*(k for k, _ in atom.rules), *(w.keys for w in atom.witnesses))
        for name in sorted(keys.names)
    )
    clauses = (n for c in atom.clauses for other in c.atoms for n in known_names(other))
    return tuple(dict.fromkeys((*atom.order, *atom.required, *others, *listed, *clauses)))


def closed_names(atom: ObjectAtom) -> frozenset[str] | None:
    """Return the only names there can be, or None for an object that is open."""
    for keys, claims in atom.rules:
        if keys.outside and not keys.patterns and claims == FALSE:
            return keys.names
    return None

"""A grammar over terminals, with what is ignored put before every terminal.

Also says where one terminal may break the duty of another (see lexeme): `NAME "and"`, where "and"
right behind a name would only make the name longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from constrain.syntax.charset import CharSet
from constrain.syntax.expr import Expr, Grammar, Ref, alt, repeat, seq
from constrain.syntax.following import START, Neighbours, rewritten
from constrain.syntax.lexeme import FREE, Duty, Lexeme, State

__all__ = ["Adjacency", "spaced"]

GAP = "%ignore"
_SOME = "%ignore+"


class Adjacency:
    """The terminals of a grammar, which may follow which, and which may break whose duties."""

    def __init__(
        self, grammar: Grammar, lexemes: Mapping[str, Lexeme], ignored: Sequence[str]
    ) -> None:
        self.lexemes = lexemes
        self.ignored = tuple(dict.fromkeys(ignored))
        self.neighbours = Neighbours.of(grammar, lexemes)
        self.first = {name: _first(lexeme) for name, lexeme in lexemes.items()}
        self.following = self._following(grammar)
        self._breaks: dict[tuple[str, str], bool] = {}

    def breaks(self, left: str, right: str) -> bool:
        """Return whether `right` can break a duty that `left` leaves, right behind it."""
        key = (left, right)
        if key not in self._breaks:
            duties = [d for d in _duties(self.lexemes[left]) if self.is_hopeful(left, d)]
            self._breaks[key] = any(self.is_broken(duty, right) for duty in duties)
        return self._breaks[key]

    def is_hopeful(self, left: str, duty: Duty) -> bool:
        """Return whether something that may follow `left`, or the end, can fulfil its duty."""
        after = CharSet.of(r for name in self.following[left] for r in self.first[name].ranges)
        return duty.may_end or any(charset & after for charset, _ in duty.moves)

    def is_broken(self, duty: Duty, right: str) -> bool:
        """Return whether a duty can be broken by `right` or by what follows that."""
        seen: set[tuple[State, Duty]] = set()
        work = [(self.lexemes[right], duty)]
        while work:
            state, pending = place = work.pop()
            if pending is FREE or place in seen:
                continue
            seen.add(place)
            if state.duty is not None and self._is_open(pending, right):
                return True
            for charset, target in state.moves:
                left = charset
                for fulfilling, after in pending.moves:
                    if charset & fulfilling:
                        work.append((target, after))
                        left -= fulfilling
                if left:
                    return True
        return False

    def _is_open(self, pending: Duty, right: str) -> bool:
        """Return whether what follows `right` may still break a duty from before it."""
        after = CharSet.of(r for name in self.following[right] for r in self.first[name].ranges)
        fulfilled = CharSet.of(r for c, d in pending.moves if d is FREE for r in c.ranges)
        return bool(after - fulfilled) or not pending.may_end

    def _following(self, grammar: Grammar) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {name: set(self.ignored) for name in self.lexemes}

        def note(name: str, before: frozenset[str]) -> Expr:
            for other in before - {START}:
                found[other].add(name)
            return Ref(name)

        rewritten(grammar, self.neighbours, self.lexemes, note)
        for name in self.ignored:
            found[name] |= self.lexemes.keys()
        return found


def spaced(
    grammar: Grammar, adjacency: Adjacency, *, strictly: bool = False
) -> tuple[Grammar, frozenset[str]]:
    """Return the grammar with what is ignored before each terminal and at the end.

    With `strictly`, some of it must stand before a terminal that can break a duty of what may stand
    before it. Also returns those before which it could have been missing at times.
    """
    if not adjacency.ignored:
        return grammar, frozenset()
    strict: set[str] = set()

    def write(name: str, before: frozenset[str]) -> Expr:
        broken = {o for o in before - {START} if adjacency.breaks(o, name)} if strictly else set()
        if broken and broken != before:
            strict.add(name)
        return seq(Ref(_SOME if broken else GAP), Ref(name))

    found = rewritten(grammar, adjacency.neighbours, adjacency.lexemes, write)
    one = alt(*map(Ref, adjacency.ignored))
    gaps = {GAP: repeat(one), _SOME: repeat(one, 1)}
    return Grammar(seq(found.start, Ref(GAP)), {**found.rules, **gaps}), frozenset(strict)


def _first(lexeme: Lexeme) -> CharSet:
    return CharSet.of(r for charset, _ in lexeme.moves for r in charset.ranges)


def _duties(lexeme: Lexeme) -> set[Duty]:
    """Return all duties that a lexeme may leave."""
    states, work = {lexeme}, [lexeme]
    while work:
        targets = {target for _, target in work.pop().moves} - states
        states |= targets
        work.extend(targets)
    return {state.duty for state in states if state.duty is not None}

"""A grammar over terminals to a grammar over characters, as a lexer would cut the text.

Takes a Grammar some of whose names are terminals, and their lexemes; gives a Grammar without them.
What must follow a lexeme (its duty, see lexeme) concerns whatever terminal comes next, through any
number of rules. So rules become `A[m, n]`: the texts of A that fulfil the duties m pending before
them, and leave n (the product of a context-free and a regular language, Bar-Hillel 1961).

Only duties that the next terminals could break are kept: after a number comes `+` or `)`, and then
there is nothing to tell apart, no rule is doubled, and the grammar stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from constrain.limits import Limits
from constrain.syntax.charset import ANY, CharSet
from constrain.syntax.expr import (
    EMPTY,
    NOTHING,
    Alt,
    Chars,
    Empty,
    Expr,
    Grammar,
    Ref,
    Repeat,
    Seq,
    alt,
    repeat,
    seq,
)
from constrain.syntax.following import Neighbours
from constrain.syntax.lexeme import FREE, Duty, Lexeme, State
from constrain.syntax.spacing import Adjacency, spaced

__all__ = ["lexed"]

_MAX_VARIANTS = 12
_Duties = frozenset[Duty]
_NONE: _Duties = frozenset()
_Key = tuple[str, _Duties]


def lexed(
    grammar: Grammar, lexemes: Mapping[str, Lexeme], ignored: Sequence[str], limits: Limits
) -> tuple[Grammar, frozenset[str]]:
    """Return the grammar of the same texts in which each terminal is a rule, after what is ignored.

    Where that would need too many variants of rules, what is ignored must not be missing between
    terminals that could run together; also returns the terminals which are concerned.
    """
    adjacency = Adjacency(grammar, lexemes, ignored)
    whole, _ = spaced(grammar, adjacency)
    exact = _Lexing(whole, _terminals(whole, adjacency), limits)
    if exact.find_outcomes() <= _MAX_VARIANTS or not ignored:
        return exact.run(), frozenset()
    whole, strict = spaced(grammar, adjacency, strictly=True)
    apart = _Lexing(whole, _terminals(whole, adjacency), limits)
    apart.find_outcomes()
    return apart.run(), strict


def _terminals(whole: Grammar, adjacency: Adjacency) -> dict[str, _Terminal]:
    """Return the terminals as they stand in `whole`, which has what is ignored in it."""
    known: dict[tuple[CharSet, bool], Duty] = {}
    around = Adjacency(whole, adjacency.lexemes, ())
    return {name: _Terminal(name, around, known) for name in adjacency.lexemes}


class _Terminal:
    """A lexeme in its places in a grammar."""

    def __init__(
        self, name: str, around: Adjacency, known: dict[tuple[CharSet, bool], Duty]
    ) -> None:
        self.lexeme = around.lexemes[name]
        self._name = name
        self.first = around.first[name]
        self._around = around
        self._next = around.following[name]
        self._following = CharSet.of(r for o in self._next for r in around.first[o].ranges)
        self._known = known
        self._kept: dict[Duty, Duty | None] = {}
        self._ways: dict[_Duties, _Ways] = {}

    def after(self, pending: _Duties) -> _Ways:
        """Return the ways through the lexeme when duties are `pending` before it."""
        pending = _breakable(pending, self.first)
        if pending not in self._ways:
            self._ways[pending] = _Ways(self, pending)
        return self._ways[pending]

    def kept(self, duty: Duty) -> Duty | None:
        """Return the duty as far as what follows can break it; None: nothing fulfils it.

        Equal ones are the same.
        """
        if duty not in self._kept:
            self._kept[duty] = self._reduced(duty)
        return self._kept[duty]

    def _reduced(self, duty: Duty) -> Duty | None:
        if not self._around.is_hopeful(self._name, duty):
            return None
        if duty.may_end and not any(self._around.is_broken(duty, o) for o in self._next):
            return FREE
        if any(target is not FREE and charset & self._following for charset, target in duty.moves):
            return duty
        fulfilling = CharSet.of(r for charset, _ in duty.moves for r in charset.ranges)
        breaking = self._following - fulfilling
        if duty.may_end and not breaking:
            return FREE
        key = (breaking, duty.may_end)
        if key not in self._known:
            self._known[key] = Duty(duty.may_end, [(~breaking, FREE)])
        return self._known[key]


class _Ways:
    """The product of a lexeme and the duties pending before it: places (state, duties)."""

    def __init__(self, terminal: _Terminal, pending: _Duties) -> None:
        self.pending = pending
        first = (terminal.lexeme, pending)
        self.places: dict[tuple[State, _Duties], int] = {first: 0}
        self.moves: list[list[tuple[CharSet, int]]] = []
        self.leaves: list[_Duties | None] = []
        """For each place the duties it leaves if the lexeme ends there."""
        work = [first]
        for state, duties in work:  # grows while it is read
            own = None if state.duty is None else terminal.kept(state.duty)
            self.leaves.append(None if own is None else _with(duties, own))
            self.moves.append([])
            for charset, after in _advanced(duties):
                for other, target in state.moves:
                    if both := charset & other:
                        place = (target, after)
                        if place not in self.places:
                            self.places[place] = len(self.places)
                            work.append(place)
                        self.moves[-1].append((both, self.places[place]))

    @cached_property
    def outcomes(self) -> frozenset[_Duties]:
        """All that can be left at the end."""
        return frozenset(duties for duties in self.leaves if duties is not None)


def _with(duties: _Duties, own: Duty) -> _Duties:
    return duties if own is FREE else duties | {own}


def _breakable(duties: _Duties, first: CharSet) -> _Duties:
    """Return the duties that a text which begins with one of `first` does not fulfil at once."""
    kept = set()
    for duty in duties:
        fulfilled = CharSet.of(r for c, after in duty.moves if after is FREE for r in c.ranges)
        if first - fulfilled:
            kept.add(duty)
    return frozenset(kept)


def _advanced(duties: _Duties) -> list[tuple[CharSet, _Duties]]:
    """Return which duties are left after which characters; what breaks one is left out."""
    found = [(ANY, _NONE)]
    for duty in duties:
        found = [
            (both, _with(left, target))
            for charset, left in found
            for other, target in duty.moves
            if (both := charset & other)
        ]
    return found


class _Lexing:
    def __init__(
        self, grammar: Grammar, terminals: Mapping[str, _Terminal], limits: Limits
    ) -> None:
        self._old = grammar
        self._terminals = terminals
        self._limits = limits
        self._deadline = limits.deadline()
        self._outcomes: dict[_Key, frozenset[_Duties]] = {}
        self._callers: dict[_Key, set[_Key]] = {}
        self._numbers: dict[_Duties, int] = {}
        self._rules: dict[str, Expr] = {}
        self._around = Neighbours.of(grammar, terminals)
        self._first: dict[str, CharSet] = {}

    def run(self) -> Grammar:
        """Write the rules, once the outcomes have been found."""
        ways = self._split(self._old.start, _NONE)
        start = alt(*(e for left, e in ways.items() if all(duty.may_end for duty in left)))
        for name, before in list(self._outcomes):
            if name:
                ways = self._split(self._old.rules[name], before)
                for after in self._outcomes[name, before]:
                    self._write(self._name(name, before, after), ways.get(after, NOTHING))
        return Grammar(start, self._rules)

    # ------------------------------------------------------------------ what each part may leave

    def find_outcomes(self) -> int:
        """Find what every rule may leave at most, for what may be pending before it.

        Returns how many variants of rules that makes, besides one of each.
        """
        work: list[_Key] = [("", _NONE)]
        self._outcomes["", _NONE] = frozenset()
        while work:
            self._deadline.check()
            key = work.pop()
            body = self._old.rules[key[0]] if key[0] else self._old.start
            asked = len(self._outcomes)
            found = self._left(body, key[1], key)
            work.extend(list(self._outcomes)[asked:])
            if found != self._outcomes[key]:
                self._outcomes[key] = found
                work.extend(self._callers.get(key, ()))
        return sum(map(len, self._outcomes.values())) - len(self._outcomes)

    def _left(self, expr: Expr, before: _Duties, caller: _Key) -> frozenset[_Duties]:
        match expr:
            case Ref(name) if name in self._terminals:
                return self._terminals[name].after(before).outcomes
            case Ref(name):
                key = (name, self._entering(name, before))
                self._callers.setdefault(key, set()).add(caller)
                return self._outcomes.setdefault(key, frozenset())
            case Seq(items):
                found = frozenset([before])
                for item in items:
                    found = self._left_by_any(item, found, caller)
                return found
            case Alt(items):
                return frozenset().union(*(self._left(item, before, caller) for item in items))
            case Repeat(item, _, _):
                found, more = frozenset([before]), frozenset([before])
                while more:
                    more = self._left_by_any(item, more, caller) - found
                    found |= more
                return found
            case Empty():
                return frozenset([before])
            case _:
                message = f"{type(expr).__name__} is no part of a grammar over terminals"
                raise TypeError(message)

    def _left_by_any(
        self, item: Expr, befores: Iterable[_Duties], caller: _Key
    ) -> frozenset[_Duties]:
        return frozenset().union(*(self._left(item, before, caller) for before in befores))

    def _entering(self, name: str, before: _Duties) -> _Duties:
        """Return what is still pending in a rule, by what it may begin with."""
        if not before or name in self._around.empty:
            return before
        if name not in self._first:
            firsts = self._around.first[name]
            ranges = (r for terminal in firsts for r in self._terminals[terminal].first.ranges)
            self._first[name] = CharSet.of(ranges)
        return _breakable(before, self._first[name])

    # ------------------------------------------------------------------ the rules

    def _split(self, expr: Expr, before: _Duties) -> dict[_Duties, Expr]:
        """Return `expr` after `before`, by what it leaves."""
        match expr:
            case Ref(name) if name in self._terminals:
                return self._terminal(name, before)
            case Ref(name):
                before = self._entering(name, before)
                left = self._outcomes[name, before]
                return {after: Ref(self._name(name, before, after)) for after in left}
            case Seq(items):
                found: dict[_Duties, Expr] = {before: EMPTY}
                for item in items:
                    found = self._joined(found, item)
                return found
            case Alt(items):
                return _merged(way for item in items for way in self._split(item, before).items())
            case Repeat(item, minimum, maximum):
                return self._repeated(item, minimum, maximum, before)
            case _:
                return {before: EMPTY}

    def _joined(self, ways: Mapping[_Duties, Expr], item: Expr) -> dict[_Duties, Expr]:
        return _merged(
            (after, seq(start, body))
            for middle, start in ways.items()
            for after, body in self._split(item, middle).items()
        )

    def _repeated(
        self, item: Expr, minimum: int, maximum: int | None, before: _Duties
    ) -> dict[_Duties, Expr]:
        once = self._split(item, before)
        if once.keys() == {before}:
            return {before: repeat(once[before], minimum, maximum)}
        if minimum:
            most = None if maximum is None else maximum - 1
            rest = Repeat(item, minimum - 1, most) if most != 0 else EMPTY
            self._count()
            return _merged(
                (after, seq(body, more))
                for middle, body in once.items()
                for after, more in self._split(rest, middle).items()
            )
        left = self._left(Repeat(item, 0, maximum), before, ("", _NONE))
        return {after: Ref(self._rounds(item, maximum, before, after)) for after in left}

    def _rounds(self, item: Expr, maximum: int | None, before: _Duties, after: _Duties) -> str:
        """Return the rule of at most `maximum` rounds that leave `after`."""
        name = self._name(f"\0{id(item)}\0{maximum}", before, after)
        if name not in self._rules:
            self._rules[name] = EMPTY  # known from now on
            parts: list[Expr] = [EMPTY] if before == after else []
            rest = None if maximum is None else maximum - 1
            for middle, body in self._split(item, before).items():
                if rest == 0:
                    parts += [body] if middle == after else []
                elif after in self._left(Repeat(item, 0, rest), middle, ("", _NONE)):
                    parts.append(seq(body, Ref(self._rounds(item, rest, middle, after))))
            self._write(name, alt(*parts))
        return name

    def _terminal(self, name: str, before: _Duties) -> dict[_Duties, Expr]:
        ways = self._terminals[name].after(before)
        return {after: Ref(self._place(name, ways, after)) for after in ways.outcomes}

    def _place(self, terminal: str, ways: _Ways, after: _Duties) -> str:
        """Return the rule of the lexemes that leave `after`, written place by place."""
        stem = self._name(terminal, ways.pending, after)
        if stem in self._rules:
            return stem
        names = [stem, *(f"{stem}\0{number}" for number in range(1, len(ways.moves)))]
        for number, (moves, leaves) in enumerate(zip(ways.moves, ways.leaves, strict=True)):
            own = CharSet.of(r for c, target in moves if target == number for r in c.ranges)
            parts = [
                seq(Chars(charset), Ref(names[target]))
                for charset, target in moves
                if target != number
            ]
            ends = [EMPTY] if leaves == after else []
            loop = repeat(Chars(own)) if own else EMPTY
            self._write(names[number], seq(loop, alt(*ends, *parts)))
        return stem

    def _write(self, name: str, body: Expr) -> None:
        self._rules[name] = body
        self._count()

    def _count(self) -> None:
        self._limits.check("expression_size", len(self._rules))
        self._deadline.check()

    def _name(self, name: str, before: _Duties, after: _Duties) -> str:
        """Return the name of `name[before, after]`, which is `name` itself without duties."""
        if not before and not after:
            return name
        numbers = [
            self._numbers.setdefault(duties, len(self._numbers)) for duties in (before, after)
        ]
        return f"{name}[{numbers[0]},{numbers[1]}]"


def _merged(ways: Iterable[tuple[_Duties, Expr]]) -> dict[_Duties, Expr]:
    found: dict[_Duties, list[Expr]] = {}
    for after, body in ways:
        found.setdefault(after, []).append(body)
    return {after: alt(*bodies) for after, bodies in found.items()}

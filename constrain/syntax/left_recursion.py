"""A Grammar to one of the same texts in which no rule calls itself before it reads.

A matcher would push frames without end for such a rule. Rules that begin with each other form a
system of linear equations over languages, one for each rule i of a group (a strongly connected
component of "may begin with"):

    A_i = A_1 a_i1 | ... | A_n a_in | b_i        where b_i begins with no rule of the group

Its solution needs no elimination (Rosenkrantz, "Matrix equations and normal forms for context-free
grammars", JACM 1967): with a rule Z_ij for what can follow a whole A_i until it is a whole A_j,

    A_j = b_1 Z_1j | ... | b_n Z_nj        Z_ij = a_1i Z_1j | ... | a_ni Z_nj, or empty for i = j

which for one rule is A = b a* (Arden). Every Z stands last and calls a Z last, so it takes no
stack. The unknowns are the rules *without the empty text*, so that what is hidden behind rules that
may be empty comes to light, and units and cycles are only Z that lead to Z.

A reference that ends a part is the whole of the rest: A_j Z_jj = A_j. So `e: e "+" e | n` becomes
`e: n z` and `z: "+" e |`, which has one derivation, where `z: "+" e z |` would have one for each
way to set parentheses, and as many configurations.

Rejected: Paull's substitution (exponential in the length of a group), and left corners for all
rules (touches grammars that need nothing).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from constrain.limits import Limits
from constrain.syntax.expr import (
    EMPTY,
    NOTHING,
    Alt,
    And,
    Empty,
    Expr,
    Grammar,
    Not,
    Nothing,
    Ref,
    Repeat,
    Seq,
    alt,
    complement,
    conjunction,
    repeat,
    seq,
)
from constrain.syntax.languages import nullable
from constrain.syntax.rules import circles, left_corners, may_be_empty, nullable_rules, references

__all__ = ["without_left_recursion"]


def without_left_recursion(grammar: Grammar, limits: Limits) -> Grammar:
    """Return a grammar of the same language that is not left-recursive; itself when it is none.

    Every name that `grammar` refers to must be a rule. Raises LimitExceeded.
    """
    empty = nullable_rules(grammar.rules)
    corners = {name: left_corners(body, empty) for name, body in grammar.rules.items()}
    groups = circles(corners)
    if not groups:
        return grammar
    return _Rewriting(grammar.rules, empty, limits).run(grammar.start, groups)


@dataclass(frozen=True, slots=True)
class _Front:
    """An expression by how its texts begin: `heads[A]` is what follows a text of the rule A.

    The A there and all texts of `rest` are not empty; `empty` says whether the empty text is one.
    """

    empty: bool
    heads: Mapping[str, Expr]
    rest: Expr


class _Rewriting:
    """The new rules, each written when something refers to it."""

    def __init__(self, rules: Mapping[str, Expr], empty: frozenset[str], limits: Limits) -> None:
        self._old = rules
        self._empty = empty
        self._limits = limits
        self._deadline = limits.deadline()
        self._group_of: dict[str, _Group] = {}
        self._writers: dict[str, Callable[[], Expr]] = {
            name: partial(self._whole, name) for name in rules
        }

    def run(self, start: Expr, groups: list[list[str]]) -> Grammar:
        for names in groups:
            self._group_of.update(dict.fromkeys(names, _Group(names)))
        written: dict[str, Expr] = {}
        work = list(references(start))
        while work:
            name = work.pop()
            if name not in written:
                written[name] = self._writers[name]()
                self._limits.check("expression_size", len(written))
                self._deadline.check()
                work.extend(references(written[name]))
        return Grammar(start, written)

    def _whole(self, name: str) -> Expr:
        if name not in self._group_of:
            return self._old[name]
        if name not in self._empty:
            return self._nonempty(name)
        return alt(EMPTY, self._nonempty_ref(name))

    def _nonempty(self, name: str) -> Expr:
        """Return the texts of a rule but the empty one."""
        group = self._group_of.get(name)
        if group is None:
            return self._front(self._old[name], frozenset()).rest
        fronts = self._fronts(group)
        return alt(*(self._before(fronts[i].rest, group, i, name) for i in group.names))

    def _nonempty_ref(self, name: str) -> Expr:
        if name not in self._empty:
            return Ref(name)
        key = f"{name}\0nonempty"
        self._writers.setdefault(key, partial(self._nonempty, name))
        return Ref(key)

    # ------------------------------------------------------------------ the solution of a group

    def _fronts(self, group: _Group) -> Mapping[str, _Front]:
        if not group.fronts:
            members = frozenset(group.names)
            for name in group.names:
                group.fronts[name] = self._front(self._old[name], members)
            for name, front in group.fronts.items():
                for head, after in front.heads.items():
                    if (head, after) != (name, EMPTY):
                        group.steps[head].append((name, after))
        return group.fronts

    def _before(self, part: Expr, group: _Group, i: str, j: str) -> Expr:
        """Return `part` and then Z_ij."""
        i = group.resolved(i, j)
        if i == j:
            own = self._ending_in(part, j)
            if own is not None:
                return own
        if not group.steps[i]:
            return part if i == j else NOTHING
        return seq(part, self._path(group, i, j))

    def _ending_in(self, part: Expr, j: str) -> Expr | None:
        """Return `part` and then Z_jj where `part` ends in A_j, which holds Z_jj already."""
        match part:
            case Ref(name) if name == j:
                if j not in self._empty:
                    return part
                group = self._group_of[j]
                return alt(self._nonempty_ref(j), self._path(group, j, j))
            case Seq(items):
                last = self._ending_in(items[-1], j)
                return None if last is None else seq(*items[:-1], last)
            case Alt(items):
                ends = [self._ending_in(item, j) for item in items]
                if all(end is None for end in ends):
                    return None
                path = self._path(self._group_of[j], j, j)
                pairs = zip(items, ends, strict=True)
                return alt(*(seq(item, path) if end is None else end for item, end in pairs))
            case _:
                return None

    def _path(self, group: _Group, i: str, j: str) -> Expr:
        """Return a reference to Z_ij."""
        name = f"{i}\0{j}"
        self._writers.setdefault(name, partial(self._steps, group, i, j))
        return Ref(name)

    def _steps(self, group: _Group, i: str, j: str) -> Expr:
        parts = [self._before(after, group, k, j) for k, after in group.steps[i]]
        return alt(EMPTY, *parts) if i == j else alt(*parts)

    # ------------------------------------------------------------------ how a text begins

    def _front(self, expr: Expr, members: frozenset[str]) -> _Front:
        match expr:
            case Empty() | Nothing():
                return _Front(isinstance(expr, Empty), {}, NOTHING)
            case Ref(name):
                holds = name in self._empty
                if name in members:
                    return _Front(holds, {name: EMPTY}, NOTHING)
                return _Front(holds, {}, self._nonempty_ref(name))
            case Alt(items):
                return self._either([self._front(item, members) for item in items])
            case Seq(items):
                return self._in_order(items, members)
            case Repeat(item, minimum, maximum):
                return self._repeated(item, minimum, maximum, members)
            case And() | Not() if nullable(expr):
                return _Front(True, {}, conjunction((expr, complement(EMPTY))))
            case _:
                return _Front(False, {}, expr)

    def _either(self, fronts: list[_Front]) -> _Front:
        names = dict.fromkeys(name for front in fronts for name in front.heads)
        heads = {
            name: alt(*(front.heads[name] for front in fronts if name in front.heads))
            for name in names
        }
        rest = alt(*(front.rest for front in fronts))
        return _Front(any(front.empty for front in fronts), heads, rest)

    def _in_order(self, items: tuple[Expr, ...], members: frozenset[str]) -> _Front:
        parts: list[_Front] = []
        for i, item in enumerate(items):
            front = self._front(item, members)
            after = seq(*items[i + 1 :])
            heads = {name: seq(body, after) for name, body in front.heads.items()}
            parts.append(_Front(False, heads, seq(front.rest, after)))
            if not front.empty:
                return self._either(parts)
        return self._either([*parts, _Front(True, {}, NOTHING)])

    def _repeated(
        self, item: Expr, minimum: int, maximum: int | None, members: frozenset[str]
    ) -> _Front:
        least = 0 if may_be_empty(item, self._empty) else max(minimum - 1, 0)
        again = repeat(item, least, None if maximum is None else maximum - 1)
        front = self._front(item, members)  # of the first round that is not empty
        heads = {name: seq(body, again) for name, body in front.heads.items()}
        return _Front(minimum == 0 or front.empty, heads, seq(front.rest, again))


class _Group:
    """Rules that begin with each other; `steps[i]` are the (k, after) of A_k: A_i after."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.fronts: dict[str, _Front] = {}
        self.steps: dict[str, list[tuple[str, Expr]]] = {name: [] for name in names}

    def resolved(self, i: str, j: str) -> str:
        """Return the k with Z_kj = Z_ij that is farthest along rules with one use, a unit."""
        seen: set[str] = set()
        while i != j and i not in seen and len(self.steps[i]) == 1:
            k, after = self.steps[i][0]
            if after != EMPTY:
                break
            seen.add(i)
            i = k
        return i

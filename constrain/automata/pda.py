"""Grammar to `Automaton`: byte edges, epsilon edges, and calls of rules.

Every rule of the grammar becomes a start state and a return state. A reference is a jump where it
stands last in its rule (the callee returns for it, so right recursion takes no stack), a copy
where the rule is small or used once, and a call otherwise. A counted repetition too large to
copy out becomes a loop head, which counts the returns of its item.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from constrain.automata.byte_nfa import JSON, PLAIN, ByteNfa
from constrain.automata.counting import Bounds, CountedState, plan, split_bounds
from constrain.automata.dfa import CharDfa
from constrain.automata.flatten import ALL_BYTES, flatten
from constrain.automata.fragments import FragmentCache
from constrain.automata.joined import joined
from constrain.automata.nfa import size_of
from constrain.automata.regular import embedder, is_within
from constrain.automata.sketch import EDGE_SOURCE, EDGE_TARGET, GUARDED, SCARCE, Fragment, Sketch
from constrain.errors import ConstraintError, LimitExceeded
from constrain.limits import Deadline, Limits
from constrain.syntax.expr import (
    ANY_CHAR,
    Alt,
    And,
    Distinct,
    Empty,
    Expr,
    Grammar,
    JsonString,
    Literal,
    Not,
    Ref,
    Repeat,
    Seq,
    conjunction,
    names,
)
from constrain.tables import UNBOUNDED, Automaton

__all__ = ["build_automaton"]

_COPY_OUT = 96
"""A counted repetition of at most so many states is copied out instead of counted."""
_INLINE = 10
"""A rule of at most so many states is copied into each place that uses it."""
_INLINE_DEPTH = 60
_SHARED = 24
"""A part without references of more states than that is built once for all constraints."""
_MOST = 1 << 62
_FRAGMENTS = FragmentCache()


def build_automaton(
    grammar: Grammar,
    limits: Limits,
    writable: frozenset[int] = ALL_BYTES,
    *,
    join: bool = False,
) -> Automaton:
    """Compile `grammar`; raises ConstraintError when no text satisfies it, or LimitExceeded.

    Texts are written in `writable` bytes only (see flatten). `join`: determinise the rules (see
    joined), for grammars whose alternatives may begin alike.
    """
    builder = _PdaBuilder(grammar, limits, limits.deadline())
    try:
        start = builder.build_all()
    except RecursionError:
        raise LimitExceeded("depth", given=limits.depth + 1, allowed=limits.depth) from None
    if join:
        sketch, start = joined(builder.sketch, start, Sketch(limits, limits.deadline()))
        return flatten(sketch, start, writable)
    return flatten(builder.sketch, start, writable)


@dataclass(frozen=True, slots=True)
class _Rule:
    start: int
    end: int
    body: Expr


@dataclass
class _Uses:
    """How often each rule is referenced, and rules that cut every cycle of references."""

    grammar: Grammar
    counts: Counter[str] = field(default_factory=Counter)
    recursive: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        references = {name: _references(body) for name, body in self.grammar.rules.items()}
        for used in (*references.values(), _references(self.grammar.start)):
            for name in used:
                if name not in self.grammar.rules:
                    raise ConstraintError(f"there is no rule {name!r}", place="the grammar")
            self.counts.update(used)
        self.recursive = _cycle_cuts({name: set(used) for name, used in references.items()})


class _PdaBuilder(ByteNfa):
    def __init__(self, grammar: Grammar, limits: Limits, deadline: Deadline) -> None:
        super().__init__(embedder(limits, deadline), limits, deadline)
        self._uses = _Uses(grammar)
        self._bodies = grammar.rules
        self._first = grammar.start
        self._limits = limits
        self._deadline = deadline
        self._rules: dict[object, _Rule] = {}
        self._queue: list[_Rule] = []
        self._sizes: dict[int, tuple[Expr, int]] = {}
        self._inlined: dict[tuple[str, int], int] = {}
        self._heads: dict[tuple[Expr, int, int | None, str], int] = {}
        self._counted: dict[tuple[Expr, str], int] = {}
        self._copies: dict[tuple[int, int], int] = {}
        self._depth = 0
        self._end = -1

    def build_all(self) -> int:
        """Build the start expression and every rule it needs; return the start state."""
        first = self._rule("", self._first)
        self._build_queue()
        return first.start

    def _build_queue(self) -> None:
        for rule in self._queue:
            self.spelling = PLAIN
            if self._is_shared(rule.body):
                fragment = self._fragment(rule.body, is_rule=True)
                self.add_epsilon(rule.start, self.sketch.place(fragment) + fragment.start)
                continue
            self._end = rule.end
            self.add_epsilon(rule.start, self.build(rule.body, rule.end))
        self._queue.clear()

    # ------------------------------------------------------------ parts that are built once

    def _is_shared(self, expr: Expr) -> bool:
        return not names(expr) and size_of(expr, self._sizes) > _SHARED

    def _fragment(self, expr: Expr, *, is_rule: bool) -> Fragment:
        """Return `expr`, which holds no references, as a fragment; a rule returns at its end."""
        return _FRAGMENTS.get((expr, is_rule), lambda: self._built(expr, is_rule=is_rule))

    def _built(self, expr: Expr, *, is_rule: bool) -> Fragment:
        builder = _PdaBuilder(Grammar(expr, {}), self._limits, self._deadline)
        end = builder.state()
        if is_rule:
            builder.sketch.returns.append(end)
            builder._end = end
        if isinstance(expr, JsonString):
            start = builder._json_string(expr, end)
        else:
            start = builder.build(expr, end)
        builder._build_queue()
        return builder.sketch.whole(start, end)

    def _copy(self, expr: Expr, then: int) -> int:
        """Return the state from which a copy of the fragment of `expr` leads to `then`."""
        fragment = self._fragment(expr, is_rule=False)
        key = (id(fragment), then)
        known = self._copies.get(key)
        if known is None:
            first = self.sketch.place(fragment)
            self.add_epsilon(first + fragment.end, then)
            known = self._copies[key] = first + fragment.start
        return known

    # ------------------------------------------------------------ expressions

    def build(self, expr: Expr, then: int) -> int:
        """Return the state from which the texts of `expr` lead to `then`."""
        match expr:
            case Ref(name):
                return self._reference(name, then)
            case JsonString():
                if size_of(expr, self._sizes) > _SHARED:
                    return self._copy(expr, then)
                return self._json_string(expr, then)
            case Distinct():
                return self._distinct(expr, then)
            case _:
                return super().build(expr, then)

    def repeat(self, item: Expr, minimum: int, maximum: int | None, then: int) -> int:
        """Copy out short repetitions; count long ones in a loop of their own."""
        copies = minimum if maximum is None else maximum
        if copies <= 1 or copies * size_of(item, self._sizes) <= _COPY_OUT:
            return super().repeat(item, minimum, maximum, then)
        return self._call(self._loop_head(item, minimum, maximum), then)

    def _rule(self, key: object, body: Expr) -> _Rule:
        """Return the rule of that key; its body is built later, from the queue."""
        rule = self._rules.get(key)
        if rule is None:
            rule = self._rules[key] = _Rule(self.state(), self.state(), body)
            self.sketch.returns.append(rule.end)
            self._queue.append(rule)
        return rule

    def _reference(self, name: str, then: int) -> int:
        if then != self._end and self._is_inlined(name):
            key = (name, then)
            known = self._inlined.get(key)
            if known is None:
                known = self._inlined[key] = self._inline(self._bodies[name], then)
            return known
        return self._call(self._rule(name, self._bodies[name]).start, then)

    def _inline(self, body: Expr, then: int) -> int:
        if self._is_shared(body):
            return self._copy(body, then)
        self._depth += 1
        start = self.build(body, then)
        self._depth -= 1
        return start

    def _is_inlined(self, name: str) -> bool:
        if name in self._uses.recursive or self._depth >= _INLINE_DEPTH:
            return False
        return self._uses.counts[name] == 1 or size_of(self._bodies[name], self._sizes) <= _INLINE

    def _call(self, entry: int, then: int) -> int:
        """Call the rule that starts at `entry`, or jump to it when nothing comes after it."""
        if then == self._end:
            return entry
        caller = self.state()
        self.sketch.calls.append((caller, entry, then))
        return caller

    def set_algebra(self, expr: Expr, then: int) -> int:
        """Count characters where a bound on the length would multiply the automaton."""
        split = split_bounds(expr) if isinstance(expr, And) else None
        if split is None:
            return super().set_algebra(expr, then)
        rest, bounds = split
        key = (expr, self.spelling.name)
        start = self._counted.get(key)
        if start is None:
            dfa = self._embedded[rest] = self._embedded.get(rest) or self._embed(rest)
            if is_within(dfa, bounds):
                return super().set_algebra(rest, then)
            copies = bounds.least if bounds.most is None else bounds.most
            states = plan(dfa, bounds) if copies * len(dfa.table) > _COPY_OUT else None
            if states is None or not states[0].is_possible_with(0):
                return super().set_algebra(expr, then)
            start = self._counted[key] = self._counting_states(dfa, states, bounds)
        return self._call(start, then)

    def _counting_states(self, dfa: CharDfa, states: list[CountedState], bounds: Bounds) -> int:
        """Make each state of `dfa` a loop head that calls one character; return the first."""
        heads = [self.state() for _ in states]
        end = self.state()
        self.sketch.returns.append(end)
        first = min([bounds.least, *(state.low for state in states if state.low)])
        highs = [state.high for state in states if state.high is not None and state.high >= 0]
        last = min(highs, default=UNBOUNDED)
        cost = max(len(min(self.spelling.spell(c), key=len)) for c in dfa.classes)
        for head, state, accepts in zip(heads, states, dfa.accepting, strict=True):
            high = UNBOUNDED if state.high is None else max(state.high, 0)
            loop = (bounds.least, state.low, high, first, last, state.shortest, cost)
            self.sketch.loops[head] = loop
            if accepts:
                self.sketch.returns.append(head)
        for head, edges in zip(heads, dfa.grouped(), strict=True):
            self.sketch.calls += [
                (head, self.chars(charset, end), heads[target])
                for charset, target in edges
                if states[target].is_possible_with(states[target].low)
            ]
        return heads[0]

    def _json_string(self, string: JsonString, then: int) -> int:
        quote = Literal('"')
        closing = self.build(Distinct('"') if string.distinct else quote, then)
        outer, self.spelling = self.spelling, JSON
        end, self._end = self._end, -1
        inside = self.build(string.content, closing)
        self.spelling, self._end = outer, end
        return self.build(quote, inside)

    def _distinct(self, expr: Distinct, then: int) -> int:
        state = self.state()
        label = GUARDED | (SCARCE if expr.scarce else 0) | ord(expr.char) * 257
        self.sketch.edges.append(state << EDGE_SOURCE | then << EDGE_TARGET | label)
        return state

    def _loop_head(self, item: Expr, minimum: int, maximum: int | None) -> int:
        if self._is_nullable(item, frozenset()):
            minimum = 0
            item = conjunction((item, Repeat(ANY_CHAR, 1, None)))
        key = (item, minimum, maximum, self.spelling.name)
        head = self._heads.get(key)
        if head is None:
            head = self._heads[key] = self.state()
            least, most = min(minimum, _MOST), UNBOUNDED if maximum is None else min(maximum, _MOST)
            self.sketch.loops[head] = (least, 0, most, least, most, 0, 0)
            self.sketch.returns.append(head)
            body = JsonString(item) if self.spelling is JSON else item
            entry = self._item_rule(key, body)
            self.sketch.calls.append((head, entry, head))
        return head

    def _item_rule(self, key: object, body: Expr) -> int:
        """Build the item at once when it is spelled inside a JSON string, else as a rule."""
        if not isinstance(body, JsonString):
            return self._rule(key, body).start
        end = self.state()
        self.sketch.returns.append(end)
        return self.build(body.content, end)

    def _is_nullable(self, expr: Expr, seen: frozenset[str]) -> bool:
        match expr:
            case Empty():
                return True
            case Seq(items) | And(items):
                return all(self._is_nullable(item, seen) for item in items)
            case Alt(items):
                return any(self._is_nullable(item, seen) for item in items)
            case Repeat(item, minimum, _):
                return minimum == 0 or self._is_nullable(item, seen)
            case Not(item):
                return not self._is_nullable(item, seen)
            case Ref(name):
                return name not in seen and self._is_nullable(self._bodies[name], seen | {name})
            case _:
                return False


def _references(expr: Expr) -> list[str]:
    found: list[str] = []
    work = [expr]
    while work:
        match work.pop():
            case Ref(name):
                found.append(name)
            case Seq(items) | Alt(items):
                work.extend(item for item in items if names(item))
            case Repeat(item, _, _):
                work.append(item)
            case _:
                pass
    return found


def _cycle_cuts(graph: dict[str, set[str]]) -> set[str]:
    """Return nodes such that each cycle holds one: the paths that depth-first search closes."""
    cuts: set[str] = set()
    done: set[str] = set()
    for root, targets in graph.items():
        path: dict[str, int] = {}
        stack = [(root, iter(targets))] if root not in done else []
        if stack:
            path[root] = 0
        while stack:
            name, following = stack[-1]
            target = next(following, None)
            if target is None:
                stack.pop()
                done.add(name)
                del path[name]
            elif target in path:
                cuts.update(list(path)[path[target] :])
            elif target not in done:
                path[target] = len(path)
                stack.append((target, iter(graph[target])))
    return cuts

"""Questions about the rules of a Grammar that their shape answers.

Which may be empty, which call which, can be reached, have a text, call each other in circles: each
answer is a fixed point over all rules, so recursion of any kind is no obstacle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from constrain.syntax.expr import (
    Alt,
    And,
    Empty,
    Expr,
    Literal,
    Not,
    Nothing,
    Ref,
    Repeat,
    Seq,
)
from constrain.syntax.languages import nullable

__all__ = [
    "circle_cuts",
    "circles",
    "corners",
    "left_corners",
    "may_be_empty",
    "nullable_rules",
    "productive_rules",
    "reachable_rules",
    "references",
]


def references(expr: Expr) -> Iterator[str]:
    """Yield the names that `expr` refers to, as often as it does, in no order."""
    work = [expr]
    while work:
        match work.pop():
            case Ref(name):
                yield name
            case Seq(items) | Alt(items):
                work.extend(items)
            case Repeat(item, _, _):
                work.append(item)
            case _:
                pass


def reachable_rules(roots: Iterable[str], rules: Mapping[str, Expr]) -> set[str]:
    """Return the names that the `roots` call, directly or not, and the roots themselves."""
    found: set[str] = set()
    work = list(roots)
    while work:
        name = work.pop()
        if name not in found:
            found.add(name)
            work.extend(references(rules[name]))
    return found


def nullable_rules(rules: Mapping[str, Expr]) -> frozenset[str]:
    """Return the names of the rules whose language holds the empty text."""
    found: set[str] = set()
    callers = _callers(rules)
    work = list(rules)
    while work:
        name = work.pop()
        if name not in found and may_be_empty(rules[name], found):
            found.add(name)
            work.extend(callers[name])
    return frozenset(found)


def may_be_empty(expr: Expr, empty: frozenset[str] | set[str]) -> bool:
    """Return whether the empty text is in `expr`, when the rules `empty` hold it."""
    match expr:
        case Ref(name):
            return name in empty
        case Seq(items):
            return all(may_be_empty(item, empty) for item in items)
        case Alt(items):
            return any(may_be_empty(item, empty) for item in items)
        case Repeat(item, minimum, _):
            return minimum == 0 or may_be_empty(item, empty)
        case Empty():
            return True
        case And() | Not():
            return nullable(expr)
        case _:
            return False


def productive_rules(rules: Mapping[str, Expr]) -> frozenset[str]:
    """Return the names of the rules that have a text at all (set algebra counts as having one)."""
    found: set[str] = set()
    callers = _callers(rules)
    work = list(rules)
    while work:
        name = work.pop()
        if name not in found and _has_text(rules[name], found):
            found.add(name)
            work.extend(callers[name])
    return frozenset(found)


def left_corners(expr: Expr, empty: frozenset[str]) -> set[str]:
    """Return the rules that `expr` may call before it has read anything."""
    return corners(expr, empty, last=False)


def corners(expr: Expr, empty: frozenset[str], *, last: bool) -> set[str]:
    """Return the names with which `expr` may begin or, with `last`, end; `empty` may be empty."""
    match expr:
        case Ref(name):
            return {name}
        case Alt(items):
            return {name for item in items for name in corners(item, empty, last=last)}
        case Repeat(item, _, _):
            return corners(item, empty, last=last)
        case Seq(items):
            found: set[str] = set()
            for item in reversed(items) if last else items:
                found |= corners(item, empty, last=last)
                if not may_be_empty(item, empty):
                    break
            return found
        case _:
            return set()


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the groups of names that can all be reached from each other, or one from itself.

    Strongly connected components by Tarjan's algorithm (1972), without recursion.
    """
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    waiting: dict[str, None] = {}
    found: list[list[str]] = []
    for root in graph:
        stack = [] if root in order else [(root, iter(graph[root]))]
        while stack:
            name, following = stack[-1]
            if name not in order:
                order[name] = low[name] = len(order)
                waiting[name] = None
            target = next(following, None)
            if target is None:
                stack.pop()
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[name])
                if low[name] == order[name]:
                    group = _popped(waiting, name)
                    if len(group) > 1 or name in graph[name]:
                        found.append(group)
            elif target not in order:
                stack.append((target, iter(graph[target])))
            elif target in waiting:
                low[name] = min(low[name], order[target])
    return found


def circle_cuts(graph: Mapping[str, Iterable[str]]) -> set[str]:
    """Return names such that each circle holds one: where depth-first search meets its own path."""
    cuts: set[str] = set()
    done: set[str] = set()
    for root in graph:
        path = {root: iter(graph[root])} if root not in done else {}
        while path:
            name, following = next(reversed(path.items()))
            target = next(following, None)
            if target is None:
                done.add(name)
                del path[name]
            elif target in path:
                cuts.add(target)
            elif target not in done:
                path[target] = iter(graph[target])
    return cuts


def _popped(waiting: dict[str, None], name: str) -> list[str]:
    """Remove and return the names that came after `name`, and itself, in their order."""
    group: list[str] = []
    while not group or group[-1] != name:
        group.append(waiting.popitem()[0])
    return group[::-1]


def _callers(rules: Mapping[str, Expr]) -> dict[str, list[str]]:
    callers: dict[str, list[str]] = {name: [] for name in rules}
    for name, body in rules.items():
        for callee in set(references(body)) & callers.keys():
            callers[callee].append(name)
    return callers


def _has_text(expr: Expr, known: set[str]) -> bool:
    match expr:
        case Ref(name):
            return name in known
        case Seq(items):
            return all(_has_text(item, known) for item in items)
        case Alt(items):
            return any(_has_text(item, known) for item in items)
        case Repeat(item, minimum, _):
            return minimum == 0 or _has_text(item, known)
        case Literal() | Empty():
            return True
        case Nothing():
            return False
        case _:
            return True

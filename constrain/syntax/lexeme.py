r"""Lexeme: the texts that a lexer takes for one terminal, as a deterministic automaton.

`re.match(pattern, rest)` at some place of a text gives one lexeme, the match a backtracking search
finds first. Whether a text u is that match depends on u, and on what follows u: `[a-z]+` takes all
letters there are, `".*?"` ends at the first quote, `if(?!\w)` looks one further. A `Lexeme` says
both: its *states* read u; a state in which u may end names the *duty* that what follows must fulfil
for the match to be u and not a longer one; a duty reads on until it is fulfilled or broken.

States are ordered lists of threads, cut after the first thread that has matched (as in RE2's
leftmost-first DFA). A thread that looks ahead carries what it still has to see, so its match, too,
can be pending; then what is less preferred stays behind it in the list. A duty is such a list in
which the matches of length |u| are marked `HERE` and all others, `ELSEWHERE`, break it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from constrain.errors import RegexError
from constrain.syntax.charset import ANY, CharSet
from constrain.syntax.lexeme_program import (
    Ahead,
    Behind,
    Char,
    Instruction,
    Match,
    Program,
    Split,
    program,
)
from constrain.syntax.regex_parser import parse_tree

__all__ = ["FREE", "Duty", "Lexeme", "Moves", "State", "lexeme"]

_MAX_STATES = 4000


@dataclass(frozen=True, slots=True, eq=False)
class Duty:
    """What must follow; `may_end`: nothing may. What no move reads breaks it."""

    may_end: bool
    moves: list[tuple[CharSet, Duty]]


FREE = Duty(may_end=True, moves=[])
"""The duty that anything fulfils."""
FREE.moves.append((ANY, FREE))


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A place in a lexeme; `duty` is None where it cannot end."""

    duty: Duty | None
    moves: list[tuple[CharSet, State]]


Moves = Sequence[tuple[CharSet, State]] | Sequence[tuple[CharSet, Duty]]
Lexeme = State
"""A lexeme is its first state."""

_Ahead = tuple[bool, frozenset[int]]
"""What is looked for: (must not come, places in its body)."""
_HERE, _ELSEWHERE = -1, -2
_Thread = tuple[int, frozenset[_Ahead]]
"""(instruction, or how it has matched; what it still has to see)."""
_History = tuple[int, ...]
"""The last characters, by the number of their class, as far back as lookbehinds see."""
_List = tuple[tuple[_Thread, ...], _History]


def lexeme(pattern: str) -> Lexeme:
    """Return the lexeme of a pattern in the syntax of Python's `re`; raises RegexError."""
    return _Builder(program(parse_tree(pattern, "unicode"), pattern), pattern).build()


class _Builder:
    def __init__(self, code: Program, pattern: str) -> None:
        self._code: tuple[Instruction, ...] = code.instructions
        self._start = code.start
        self._kept = code.behind
        self._pattern = pattern
        self._classes = _classes(code)
        self._states: dict[_List, State] = {}
        self._duties: dict[_List, Duty] = {}
        self._todo: list[_List] = []
        self._due: list[_List] = []

    def build(self) -> State:
        first = self._closed([(self._start, frozenset())], ())
        start = self._state((first, ()))
        while self._todo:
            key = self._todo.pop()
            self._grow(key, self._states[key])
        while self._due:
            key = self._due.pop()
            self._grow_duty(key, self._duties[key])
        return _without_hopeless_duties(start, list(self._duties.values()))

    def _grow(self, key: _List, state: State) -> None:
        threads = tuple((_ELSEWHERE, seen) if pc == _HERE else (pc, seen) for pc, seen in key[0])
        moved: dict[_List, list[CharSet]] = {}
        for number, charset in enumerate(self._classes):
            target = self._step((threads, key[1]), number)
            if any(pc != _ELSEWHERE for pc, _ in target[0]):
                moved.setdefault(target, []).append(charset)
        state.moves.extend((_union(sets), self._state(target)) for target, sets in moved.items())

    def _state(self, key: _List) -> State:
        known = self._states.get(key)
        if known is None:
            self._count()
            known = self._states[key] = State(self._duty_of(key), [])
            self._todo.append(key)
        return known

    def _duty_of(self, key: _List) -> Duty | None:
        """Return the duty of ending here, None where nothing matches that."""
        if all(pc != _HERE for pc, _ in key[0]):
            return None
        return self._duty(key)

    def _duty(self, key: _List) -> Duty | None:
        """Return the duty of a list of threads, None when it is broken already."""
        threads = list(key[0])
        while threads and threads[-1][0] != _HERE:
            threads.pop()  # less preferred than any match here
        if not threads or threads[0] == (_ELSEWHERE, frozenset()):
            return None
        if threads[0] == (_HERE, frozenset()):
            return FREE
        key = (tuple(threads), key[1])
        known = self._duties.get(key)
        if known is None:
            self._count()
            known = self._duties[key] = Duty(self._may_end(key), [])
            self._due.append(key)
        return known

    def _grow_duty(self, key: _List, duty: Duty) -> None:
        moved: dict[int, tuple[Duty, list[CharSet]]] = {}
        for number, charset in enumerate(self._classes):
            target = self._duty(self._step(key, number, end=_ELSEWHERE))
            if target is not None:
                moved.setdefault(id(target), (target, []))[1].append(charset)
        duty.moves.extend((_union(sets), target) for target, sets in moved.values())

    def _count(self) -> None:
        if len(self._states) + len(self._duties) > _MAX_STATES:
            fact = f"the terminal needs more than {_MAX_STATES} states"
            raise RegexError(fact, pattern=self._pattern, position=0, remedy="use rules instead")

    # ------------------------------------------------------------------ threads

    def _step(self, key: _List, number: int, end: int = _HERE) -> _List:
        """Return the list after a character of class `number`; new matches are marked `end`."""
        threads, before = key
        history = (*before, number)[-self._kept :] if self._kept else ()
        char = self._classes[number]
        moved: list[_Thread] = []
        for pc, seen in threads:
            after = self._looked(seen, char, before, history)
            if after is None:
                continue
            if pc < 0:
                moved.append((pc, after))
                continue
            instruction = self._code[pc]
            if isinstance(instruction, Char) and _holds(instruction.charset, char):
                moved.append((instruction.then, after))
        return self._closed(moved, history, end), history

    def _closed(
        self, threads: Sequence[_Thread], history: _History, end: int = _HERE
    ) -> tuple[_Thread, ...]:
        """Follow all that reads nothing, in the order of preference, up to the first sure match.

        A thread that can only match where a preferred one has matched already is dropped.
        """
        found: dict[_Thread, None] = {}
        stack = list(reversed(threads))
        visited: set[_Thread] = set()
        matched: list[frozenset[_Ahead]] = []
        while stack:
            thread = stack.pop()
            pc, seen = thread
            if thread in visited or any(before <= seen for before in matched):
                continue
            visited.add(thread)
            if pc < 0 or isinstance(self._code[pc], Match):
                done = (pc if pc < 0 else end, seen)
                found[done] = None
                matched.append(seen)
            elif isinstance(self._code[pc], Char):
                found[thread] = None
            else:
                stack.extend(reversed(list(self._silent(pc, seen, history))))
        return tuple(found)

    def _silent(self, pc: int, seen: frozenset[_Ahead], history: _History) -> Iterator[_Thread]:
        match self._code[pc]:
            case Split(targets):
                for target in targets:
                    yield target, seen
            case Behind(texts, negated, then):
                if self._is_behind(texts, history) != negated:
                    yield then, seen
            case Ahead(body, negated, then):
                places = self._body(frozenset([body]), history)
                if places is None:
                    if not negated:
                        yield then, seen
                elif places or negated:
                    yield then, seen | {(negated, places)} if places else seen

    def _is_behind(self, texts: tuple[tuple[CharSet, ...], ...], history: _History) -> bool:
        for text in texts:
            if len(text) > len(history):
                fact = "a terminal cannot see the text before it"
                remedy = "put at least one character before the lookbehind or \\b"
                raise RegexError(fact, pattern=self._pattern, position=0, remedy=remedy)
            last = history[len(history) - len(text) :]
            if all(_holds(c, self._classes[n]) for c, n in zip(text, last, strict=True)):
                return True
        return False

    # ------------------------------------------------------------------ what is looked for

    def _looked(
        self, seen: frozenset[_Ahead], char: CharSet, before: _History, history: _History
    ) -> frozenset[_Ahead] | None:
        """Return what is still to be seen after `char`; None: the thread has failed."""
        left: set[_Ahead] = set()
        for negated, places in seen:
            following = self._read(places, char, before)
            after = None if following is None else self._body(following, history)
            if after is None:
                if negated:
                    return None
            elif after:
                left.add((negated, after))
            elif not negated:
                return None
        return frozenset(left)

    def _read(
        self, places: frozenset[int], char: CharSet, before: _History
    ) -> frozenset[int] | None:
        """Return where a character leads in the body of a lookahead; None: it has matched."""
        found: set[int] = set()
        for pc in places:
            instruction = self._code[pc]
            if isinstance(instruction, Char):
                if _holds(instruction.charset, char):
                    found.add(instruction.then)
            elif isinstance(instruction, Ahead) and self._is_next(instruction, char):
                inner = self._body(frozenset([instruction.then]), before)
                following = None if inner is None else self._read(inner, char, before)
                if following is None:
                    return None
                found |= following
        return frozenset(found)

    def _is_next(self, look: Ahead, char: CharSet | None) -> bool:
        """Return whether the one character that `look` is about is there; None: the end."""
        body = self._code[look.body]
        there = isinstance(body, Char) and char is not None and _holds(body.charset, char)
        return there != look.negated

    def _body(self, places: frozenset[int], history: _History) -> frozenset[int] | None:
        """Return the readers that `places` of a lookahead lead to; None: it has matched."""
        found: set[int] = set()
        work, visited = list(places), set(places)
        while work:
            pc = work.pop()
            instruction = self._code[pc]
            if isinstance(instruction, Match):
                return None
            if isinstance(instruction, Char | Ahead):
                found.add(pc)
                continue
            targets = [target for target, _ in self._silent(pc, frozenset(), history)]
            work.extend(target for target in targets if target not in visited)
            visited.update(targets)
        return frozenset(found)

    def _may_end(self, key: _List) -> bool:
        """Return whether the first match that stands when the text ends is the one here."""
        for pc, seen in key[0]:
            if pc < 0 and all(n != self._matches_at_end(p, key[1]) for n, p in seen):
                return pc == _HERE
        return False

    def _matches_at_end(self, places: frozenset[int], history: _History) -> bool:
        for pc in places:
            look = self._code[pc]
            if isinstance(look, Ahead) and self._is_next(look, None):
                inner = self._body(frozenset([look.then]), history)
                if inner is None or self._matches_at_end(inner, history):
                    return True
        return False


def _without_hopeless_duties(start: State, duties: list[Duty]) -> State:
    r"""Return the states anew, where a lexeme does not end with a duty that nothing fulfils.

    A name that is no keyword, `(?!if\b)[a-z]+`, cannot end after "if", whatever follows.
    """
    hopeful = {FREE, *(duty for duty in duties if duty.may_end)}
    found = 0
    while found < len(hopeful):
        found = len(hopeful)
        hopeful |= {d for d in duties if any(after in hopeful for _, after in d.moves)}
    for duty in duties:
        duty.moves[:] = [(charset, after) for charset, after in duty.moves if after in hopeful]
    renewed: dict[State, State] = {}
    work = [start]
    for state in work:  # grows while it is read
        renewed[state] = State(state.duty if state.duty in hopeful else None, [])
        work += dict.fromkeys(t for _, t in state.moves if t not in renewed and t not in work)
    for state, new in renewed.items():
        new.moves.extend((charset, renewed[target]) for charset, target in state.moves)
    return renewed[start]


def _classes(code: Program) -> list[CharSet]:
    """Return disjoint sets that cover all characters and that no set of the program splits."""
    sets: dict[CharSet, None] = {}
    for instruction in code.instructions:
        if isinstance(instruction, Char):
            sets[instruction.charset] = None
        elif isinstance(instruction, Behind):
            sets.update((charset, None) for text in instruction.texts for charset in text)
    found = [ANY]
    for charset in sets:
        found = [p for part in found for p in (part & charset, part - charset) if p]
    return found


def _holds(charset: CharSet, part: CharSet) -> bool:
    return part.ranges[0][0] in charset


def _union(sets: Sequence[CharSet]) -> CharSet:
    return CharSet.of(r for charset in sets for r in charset.ranges)

"""Lark's EBNF to a Grammar: the front end of `--grammar` for files with `name: ...`.

What is accepted is what Lark accepts with its Earley parser and dynamic lexer (its default):
wherever the grammar allows a terminal, the lexeme is the match that Python's `re` prefers there,
and what is `%ignore`d may stand before and after every terminal. Terminals do not compete, so a
keyword may be a name too, and priorities, which choose among parses, decide nothing about texts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from constrain.errors import RegexError
from constrain.limits import Limits
from constrain.syntax.expr import EMPTY, Expr, Grammar, Literal, Ref, alt, repeat, seq
from constrain.syntax.grammar_source import GrammarSource, Remark, Use, check_rules
from constrain.syntax.lark_common import COMMON
from constrain.syntax.lark_parser import parse_lark
from constrain.syntax.lark_terminals import TerminalPattern, least_width, terminal_pattern
from constrain.syntax.lark_tree import (
    Call,
    Choice,
    Definition,
    Import,
    LarkText,
    Name,
    Pattern,
    Range,
    Row,
    Times,
    Tree,
    Word,
    is_terminal,
)
from constrain.syntax.lexeme import Lexeme, lexeme
from constrain.syntax.lexing import lexed

__all__ = ["read_lark"]

_MAX_NESTED = 50
"""Templates inside the arguments of templates; what nests deeper has no end."""
_Arguments = Mapping[str, Tree]


def read_lark(
    text: str, limits: Limits, start: str = "start"
) -> tuple[Grammar, tuple[Remark, ...]]:
    """Return the grammar, and remarks on what is odd in it.

    Raises GrammarError, or LimitExceeded.
    """
    source = GrammarSource(text)
    reader = _Reader(source, parse_lark(source))
    reader.read()
    texts: dict[str, Expr] = dict.fromkeys(reader.lexemes, Literal("x"))
    remarks = check_rules(source, reader.rules | texts, reader.offsets, reader.uses, start)
    whole = Grammar(Ref(start), reader.rules)
    grammar, strict = lexed(whole, reader.lexemes, reader.ignored, limits)
    return grammar, (*remarks, *reader.unused_terminals(), *reader.strict_terminals(strict))


@dataclass
class _Scope:
    """The terminals that can be named in one text, and the patterns that are known already."""

    source: GrammarSource
    terminals: dict[str, tuple[Definition, _Scope]] = field(default_factory=dict)
    patterns: dict[str, TerminalPattern | None] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def pattern(self, name: Name) -> TerminalPattern:
        """Return the pattern of a terminal; raises GrammarError."""
        if name.name not in self.terminals:
            remedy = "define it, or %import it"
            self.source.fail(f"there is no terminal {name.name!r}", name.offset, remedy)
        self.used.add(name.name)
        definition, scope = self.terminals[name.name]
        if scope is not self:
            return scope.pattern(Name(definition.name, definition.offset))
        if name.name not in self.patterns:
            self.patterns[name.name] = None
            self.patterns[name.name] = terminal_pattern(
                self.source, definition.body, definition.offset, self.pattern
            )
        known = self.patterns[name.name]
        if known is None:
            fact = f"the terminal {name.name!r} contains itself"
            self.source.fail(fact, name.offset, "make it a rule, in small letters")
        return known


@lru_cache(maxsize=1)
def _common() -> _Scope:
    scope = _Scope(GrammarSource(COMMON))
    for definition in parse_lark(scope.source).definitions:
        scope.terminals[definition.name] = (definition, scope)
    return scope


class _Reader:
    def __init__(self, source: GrammarSource, text: LarkText) -> None:
        self.rules: dict[str, Expr] = {}
        self.offsets: dict[str, int] = {}
        self.uses: list[Use] = []
        self.lexemes: dict[str, Lexeme] = {}
        self.ignored: list[str] = []
        self._source = source
        self._text = text
        self._scope = _Scope(source)
        self._definitions: dict[str, Definition] = {}
        self._places: dict[str, int] = {}
        self._instances: list[tuple[str, Call]] = []

    def read(self) -> None:
        for statement in self._text.imports:
            self._import(statement)
        for definition in self._text.definitions:
            self._define(definition)
        self.ignored = [self._lexeme(tree) for tree in self._text.ignored]
        for name, definition in self._definitions.items():
            if not definition.parameters:
                self.offsets[name] = definition.offset
                self.rules[name] = self._expr(definition.body, {})
        while self._instances:
            self._instantiate(*self._instances.pop())

    def unused_terminals(self) -> list[Remark]:
        """Return remarks on terminals that are defined here for nothing."""
        return [
            self._source.remark(d.offset, name, f"the terminal {name!r} is never used")
            for name, (d, scope) in self._scope.terminals.items()
            if scope is self._scope and name not in scope.used
        ]

    def strict_terminals(self, strict: Collection[str]) -> list[Remark]:
        """Return remarks on terminals before which something ignored must stand."""
        return [
            self._source.remark(
                self._places[name], name, f"something ignored must always stand before {name}"
            )
            for name in self.lexemes
            if name in strict
        ]

    # ------------------------------------------------------------------ names

    def _import(self, statement: Import) -> None:
        common = _common()
        if statement.path != ("common",):
            fact = f"there is no library {'.'.join(statement.path)!r} here, only 'common'"
            self._source.fail(fact, statement.offset, "copy what is needed into this grammar")
        if statement.name not in common.terminals:
            self._source.fail(f"'common' has no {statement.name!r}", statement.offset)
        self._scope.terminals[statement.alias] = common.terminals[statement.name]

    def _define(self, new: Definition) -> None:
        known = self._known(new.name)
        if new.kind and known is None:
            fact = f"there is no {new.name!r} before it to {new.kind}"
            self._source.fail(fact, new.offset)
        if not new.kind and known is not None:
            self._source.fail(f"{new.name!r} is defined twice", new.offset, "or write %override")
        if new.kind == "extend" and known is not None:
            new = self._extended(new, *known)
        if is_terminal(new.name):
            if new.parameters:
                self._source.fail("a terminal cannot be a template", new.offset)
            self._scope.terminals[new.name] = (new, self._scope)
        else:
            self._definitions[new.name] = new

    def _known(self, name: str) -> tuple[Definition, _Scope] | None:
        if is_terminal(name):
            return self._scope.terminals.get(name)
        found = self._definitions.get(name)
        return None if found is None else (found, self._scope)

    def _extended(self, new: Definition, old: Definition, scope: _Scope) -> Definition:
        if scope is not self._scope:
            remedy = "write a terminal of your own, with this one as an alternative"
            self._source.fail("an imported terminal cannot be extended", new.offset, remedy)
        if new.parameters != old.parameters:
            self._source.fail(f"{new.name!r} has other parameters before it", new.offset)
        return Definition(new.name, new.parameters, Choice((new.body, old.body)), new.offset)

    # ------------------------------------------------------------------ rules

    def _expr(self, tree: Tree, arguments: _Arguments) -> Expr:
        match tree:
            case Name(name) if name in arguments:
                return self._expr(arguments[name], {})
            case Name(name, offset) if not is_terminal(name):
                return self._rule(name, offset)
            case Call():
                return self._call(tree, arguments)
            case Row(items):
                return seq(*(self._expr(item, arguments) for item in items))
            case Choice(items):
                return alt(*(self._expr(item, arguments) for item in items))
            case Times(item, least, most):
                return repeat(self._expr(item, arguments), least, most)
            case _:
                return Ref(self._lexeme(tree))

    def _rule(self, name: str, offset: int) -> Expr:
        definition = self._definitions.get(name)
        if definition is not None and definition.parameters:
            count = len(definition.parameters)
            self._source.fail(f"the template {name!r} takes {count} arguments", offset)
        self.uses.append(Use(name, offset))
        return Ref(name)

    def _lexeme(self, tree: Tree) -> str:
        """Return the name of a terminal, named or not; its lexeme is known from then on."""
        if isinstance(tree, Name) and not is_terminal(tree.name):
            self._source.fail("only terminals can be ignored", tree.offset, "write it in capitals")
        offset = _offset(tree)
        pattern = terminal_pattern(self._source, tree, offset, self._scope.pattern).whole
        name = f"/{pattern}/"
        if name not in self.lexemes:
            self._places[name] = offset
            try:
                if least_width(pattern) == 0:
                    fact = "a terminal cannot be empty, but this may match nothing"
                    self._source.fail(fact, offset, "make it optional where it is used")
                self.lexemes[name] = lexeme(pattern)
            except RegexError as error:
                self._source.fail(f"in the pattern: {error.fact}", offset, error.remedy)
        return name

    # ------------------------------------------------------------------ templates

    def _call(self, call: Call, arguments: _Arguments) -> Expr:
        definition = self._definitions.get(call.name)
        if definition is None or not definition.parameters:
            self._source.fail(f"there is no template {call.name!r}", call.offset)
        if len(call.arguments) != len(definition.parameters):
            count = len(definition.parameters)
            self._source.fail(f"{call.name!r} takes {count} arguments", call.offset)
        closed = Call(call.name, tuple(_closed(a, arguments) for a in call.arguments), call.offset)
        name = _spelled(closed)
        if name not in self.rules:
            self.rules[name] = EMPTY  # known from now on
            self._instances.append((name, closed))
            if name.count("{") > _MAX_NESTED:
                fact = f"the template {call.name!r} calls itself with ever other arguments"
                self._source.fail(fact, call.offset)
        return Ref(name)

    def _instantiate(self, name: str, call: Call) -> None:
        definition = self._definitions[call.name]
        arguments = dict(zip(definition.parameters, call.arguments, strict=True))
        self.rules[name] = self._expr(definition.body, arguments)


def _closed(tree: Tree, arguments: _Arguments) -> Tree:
    """Return an argument with the parameters in it replaced."""
    match tree:
        case Name(name):
            return arguments.get(name, tree)
        case Call(name, inner, offset):
            return Call(name, tuple(_closed(item, arguments) for item in inner), offset)
        case _:
            return tree


def _spelled(tree: Tree) -> str:
    """Return a text that is the same for equal arguments, wherever they stand."""
    match tree:
        case Name(name):
            return name
        case Call(name, inner):
            return f"{name}{{{','.join(map(_spelled, inner))}}}"
        case Word() | Pattern() | Range():
            return repr(replace(tree, offset=0))
        case _:
            return repr(tree)


def _offset(tree: Tree) -> int:
    """Return where a tree begins, as far as it is known."""
    match tree:
        case Row(items) | Choice(items):
            return _offset(items[0]) if items else 0
        case Times(item, _, _):
            return _offset(item)
        case _:
            return tree.offset

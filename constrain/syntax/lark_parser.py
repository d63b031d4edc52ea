"""Lark's EBNF to its tree. What the tree of a parse would look like (`->`, `?rule`) is dropped."""

from __future__ import annotations

from typing import NoReturn

from constrain.syntax.grammar_source import MAX_NESTING, GrammarSource
from constrain.syntax.lark_tree import (
    Call,
    Choice,
    Definition,
    Import,
    LarkText,
    Name,
    Range,
    Row,
    Times,
    Tree,
)
from constrain.syntax.lark_words import Token, pattern_of, tokens, word_of

__all__ = ["parse_lark"]

_SIMPLE = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_BEGINS = {"rule", "terminal", "string", "regexp", "(", "["}
_MAX_COUNT = 1_000_000


def parse_lark(source: GrammarSource) -> LarkText:
    """Return the statements of a grammar; raises GrammarError."""
    return _Parser(source).parse()


class _Parser:
    def __init__(self, source: GrammarSource) -> None:
        self._source = source
        self._tokens = list(tokens(source))
        self._at = 0
        self._definitions: list[Definition] = []
        self._imports: list[Import] = []
        self._ignored: list[Tree] = []

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def parse(self) -> LarkText:
        while self._next.kind != "end":
            if not self._taken("newline"):
                self._statement()
        return LarkText(tuple(self._definitions), tuple(self._imports), tuple(self._ignored))

    # ------------------------------------------------------------------ statements

    def _statement(self) -> None:
        token = self._next
        if token.kind != "statement":
            self._definitions.append(self._definition(""))
            return
        self._at += 1
        if token.text == "%ignore":
            self._ignored.append(self._alternatives(0))
            self._line_end()
        elif token.text == "%import":
            self._import()
        elif token.text in {"%override", "%extend"}:
            self._definitions.append(self._definition(token.text[1:]))
        elif token.text == "%declare":
            remedy = "define the terminal with a string or a regular expression"
            self._fail("a declared terminal has no texts", token, remedy)
        else:
            self._fail(f"{token.text} is no statement", token, "there are %ignore and %import")

    def _definition(self, kind: str) -> Definition:
        while self._taken("!") or self._taken("?"):
            pass
        token = self._next
        if token.kind not in {"rule", "terminal"}:
            self._fail("a rule begins with its name", token, "write name: ...")
        self._at += 1
        parameters = self._parameters() if self._taken("{") else ()
        if self._taken("."):
            self._expect("number", "a priority is a number")
        self._expect(":", "':' must follow the name of a rule")
        body = self._alternatives(0)
        self._line_end()
        return Definition(token.text, parameters, body, token.offset, kind)

    def _parameters(self) -> tuple[str, ...]:
        names = [self._expect("rule", "a parameter is a name in small letters").text]
        while self._taken(","):
            names.append(self._expect("rule", "a parameter is a name in small letters").text)
        self._expect("}", "the parameters are never closed")
        return tuple(names)

    def _import(self) -> None:
        token = self._next
        if token.kind == ".":
            remedy = "copy what is needed into this grammar"
            self._fail("other files are not read", token, remedy)
        path = [self._name()]
        while self._taken("."):
            path.append(self._name())
        if self._taken("("):
            names = [self._name()]
            while self._taken(","):
                names.append(self._name())
            self._expect(")", "the list of names is never closed")
            self._imports += [Import(tuple(path), name, name, token.offset) for name in names]
        else:
            alias = self._name() if self._taken("->") else path[-1]
            self._imports.append(Import(tuple(path[:-1]), path[-1], alias, token.offset))
        self._line_end()

    def _name(self) -> str:
        if self._next.kind == "rule":
            return self._expect("rule", "").text
        return self._expect("terminal", "a name must come here").text

    # ------------------------------------------------------------------ expressions

    def _alternatives(self, depth: int) -> Tree:
        found = [self._row(depth)]
        while self._taken("|"):
            found.append(self._row(depth))
        return found[0] if len(found) == 1 else Choice(tuple(found))

    def _row(self, depth: int) -> Tree:
        items: list[Tree] = []
        while self._next.kind in _BEGINS:
            items.append(self._repeated(self._atom(depth)))
        if self._taken("->"):
            self._expect("rule", "an alias is a name in small letters")
        return items[0] if len(items) == 1 else Row(tuple(items))

    def _atom(self, depth: int) -> Tree:
        token = self._next
        if depth >= MAX_NESTING:
            self._fail(f"groups nest deeper than {MAX_NESTING}", token, "name some parts as rules")
        if token.kind in {"(", "["}:
            self._at += 1
            body = self._alternatives(depth + 1)
            closing = ")" if token.kind == "(" else "]"
            if not self._taken(closing):
                self._fail("the group is never closed", token, f"add a '{closing}'")
            return body if closing == ")" else Times(body, 0, 1)
        return self._value()

    def _value(self) -> Tree:
        token = self._next
        self._at += 1
        if token.kind == "string":
            return self._range(token) if self._taken("..") else word_of(self._source, token)
        if token.kind == "regexp":
            return pattern_of(self._source, token)
        if token.kind == "rule" and self._taken("{"):
            arguments = [self._value()]
            while self._taken(","):
                arguments.append(self._value())
            self._expect("}", "the arguments are never closed")
            return Call(token.text, tuple(arguments), token.offset)
        if token.kind not in {"rule", "terminal"}:
            self._fail("a name, a string or a pattern must come here", token)
        return Name(token.text, token.offset)

    def _range(self, first: Token) -> Tree:
        last = self._expect("string", "a range ends in a string")
        low, high = (word_of(self._source, token).text for token in (first, last))
        if len(low) != 1 or len(high) != 1:
            self._fail("the ends of a range are single characters", first)
        if low > high:
            self._fail("the range is out of order", first, "swap its ends")
        return Range(low, high, first.offset)

    def _repeated(self, item: Tree) -> Tree:
        token = self._next
        if token.kind in _SIMPLE:
            self._at += 1
            return Times(item, *_SIMPLE[token.kind])
        if not self._taken("~"):
            return item
        least = self._count()
        most = self._count() if self._taken("..") else least
        if most < least:
            self._fail(f"the counts {least} to {most} are out of order", token, "swap them")
        return Times(item, least, most)

    def _count(self) -> int:
        token = self._expect("number", "a count must come here")
        if len(token.text) > len(str(_MAX_COUNT)) or not 0 <= int(token.text) <= _MAX_COUNT:
            self._fail("the count is out of bounds", token, f"stay under {_MAX_COUNT:,}")
        return int(token.text)

    # ------------------------------------------------------------------ words

    def _taken(self, kind: str) -> bool:
        taken = self._next.kind == kind
        self._at += taken
        return taken

    def _expect(self, kind: str, fact: str) -> Token:
        token = self._next
        if not self._taken(kind):
            self._fail(fact, token)
        return token

    def _line_end(self) -> None:
        token = self._next
        if not self._taken("newline"):
            shown = token.text if token.text.strip() else "the end"
            self._fail(f"{shown!r} cannot stand here", token)

    def _fail(self, fact: str, token: Token, remedy: str = "") -> NoReturn:
        self._source.fail(fact, token.offset, remedy)

"""Constraint + Vocabulary + Limits -> CompiledConstraint. Readable from top to bottom.

Every front end writes a Grammar of Expr; one path turns it into tables.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

from constrain.automata.pda import build_automaton
from constrain.automata.regular import char_dfa
from constrain.errors import ConstraintError, UnsatisfiableSchema
from constrain.limits import Limits
from constrain.schema import SchemaOptions, schema_grammar, unsatisfiable
from constrain.store import Store
from constrain.syntax.expr import Expr, Grammar, JsonString, alt, literal
from constrain.syntax.grammar import GrammarFormat, grammar_format, read_grammar
from constrain.syntax.inlining import with_fewer_rules
from constrain.syntax.left_recursion import without_left_recursion
from constrain.syntax.regex import parse_regex
from constrain.syntax.rounds import without_empty_rounds
from constrain.tables import Automaton, CompiledConstraint, Note
from constrain.tags import tags_grammar
from constrain.vocabulary import Vocabulary

__all__ = [
    "compile_choices",
    "compile_grammar",
    "compile_json",
    "compile_regex",
    "compile_rules",
    "compile_schema",
    "compile_tags",
    "content_key",
]

_ENGINE = "18"
"""Changes whenever equal constraints compile to other tables."""


def compile_schema(
    schema: Mapping[str, Any] | bool,
    vocabulary: Vocabulary,
    options: SchemaOptions | None = None,
    limits: Limits | None = None,
    store: Store | None = None,
    others: Mapping[str, Any] | None = None,
) -> CompiledConstraint:
    """Compile a JSON Schema (dialect by `$schema`, default 2020-12).

    `others` are schemas that it may refer to outside itself, by URI; nothing is ever fetched.
    Keywords that the mask does not enforce are in `notes`. Raises SchemaError, or LimitExceeded.
    With a `store`, a constraint that was compiled before is read from it.
    """
    options, limits = options or SchemaOptions(), limits or Limits()

    def write() -> tuple[Grammar, tuple[Note, ...]]:
        written = schema_grammar(schema, options, limits, others)
        return written.grammar, tuple(
            Note(a.pointer, a.keyword, a.answer, a.note) for a in written.answers
        )

    key = content_key(["schema", schema, asdict(options), dict(others or {})], vocabulary)
    try:
        return _stored(key, vocabulary, limits, store, write)
    except UnsatisfiableSchema as error:
        if error.pointer:
            raise
        place = unsatisfiable(schema, options, limits, others, _emptiness(limits))
        raise place from None


def _emptiness(limits: Limits) -> Callable[[Expr], bool]:
    """Return a test of whether a regular expression, or the strings of one, has no text."""
    deadline = limits.deadline()

    @cache
    def is_empty(expr: Expr) -> bool:
        regular = expr.content if isinstance(expr, JsonString) else expr
        return char_dfa(regular, limits, deadline).is_empty()

    return is_empty


def compile_json(
    vocabulary: Vocabulary,
    options: SchemaOptions | None = None,
    limits: Limits | None = None,
    store: Store | None = None,
) -> CompiledConstraint:
    """Compile JSON mode: any JSON value."""
    return compile_schema(True, vocabulary, options, limits, store)


def compile_regex(
    pattern: str,
    vocabulary: Vocabulary,
    limits: Limits | None = None,
    store: Store | None = None,
) -> CompiledConstraint:
    """Compile a regular expression that the whole text matches. Raises RegexError."""
    key = content_key(["regex", pattern], vocabulary)
    return _stored(
        key, vocabulary, limits or Limits(), store, lambda: (Grammar(parse_regex(pattern), {}), ())
    )


def compile_choices(
    choices: Sequence[str],
    vocabulary: Vocabulary,
    limits: Limits | None = None,
    store: Store | None = None,
) -> CompiledConstraint:
    """Compile a list of texts, one of which is written literally, without quotes."""
    if not choices:
        raise ConstraintError("there is nothing to choose from", remedy="give at least one choice")
    for choice in choices:
        if missing := sorted(set(choice.encode()) - vocabulary.byte_tokens):
            raise ConstraintError(
                f"the model's vocabulary has no token for byte 0x{missing[0]:02x}",
                place=f"choice {choice!r}",
                remedy="spell the choice otherwise",
            )
    key = content_key(["choices", list(choices)], vocabulary)
    grammar = Grammar(alt(*(literal(choice) for choice in choices)), {})
    return _stored(key, vocabulary, limits or Limits(), store, lambda: (grammar, ()))


def compile_tags(
    parts: Sequence[Mapping[str, Any]],
    vocabulary: Vocabulary,
    options: SchemaOptions | None = None,
    limits: Limits | None = None,
    store: Store | None = None,
) -> CompiledConstraint:
    """Compile structural tags: free text with constrained islands (see `constrain.tags`)."""
    options, limits = options or SchemaOptions(), limits or Limits()
    key = content_key(["tags", list(parts), asdict(options)], vocabulary)
    return _stored(key, vocabulary, limits, store, lambda: tags_grammar(parts, options, limits))


def compile_grammar(
    text: str,
    vocabulary: Vocabulary,
    format: GrammarFormat | None = None,  # noqa: A002
    limits: Limits | None = None,
    store: Store | None = None,
) -> CompiledConstraint:
    """Compile a context-free grammar in GBNF or Lark's EBNF; the text tells the `format`.

    What is odd in it (rules that are never used) is in `notes`. Raises GrammarError with line and
    column, RegexError for a pattern in it, or LimitExceeded.
    """
    limits = limits or Limits()

    def write() -> tuple[Grammar, tuple[Note, ...]]:
        grammar, remarks = read_grammar(text, format, limits)
        notes = (
            Note(f"line {r.line}, column {r.column}", r.rule, "warning", r.text) for r in remarks
        )
        return grammar, tuple(notes)

    key = content_key(["grammar", format or grammar_format(text), text], vocabulary)
    return _stored(key, vocabulary, limits, store, write, build=_build_rules)


def compile_rules(
    grammar: Grammar, vocabulary: Vocabulary, limits: Limits | None = None
) -> CompiledConstraint:
    """Compile a Grammar of expressions; it is never stored."""
    automaton = _build_rules(grammar, limits or Limits(), vocabulary.byte_tokens)
    return CompiledConstraint(automaton, vocabulary, key="")


def content_key(source: object, vocabulary: Vocabulary) -> str:
    """Return the hash under which the constraint `source` (JSON data) is kept on disk."""
    text = json.dumps([_ENGINE, vocabulary.fingerprint, source], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _build_rules(grammar: Grammar, limits: Limits, writable: frozenset[int]) -> Automaton:
    """Build the automaton of a grammar of any shape."""
    solid = without_empty_rounds(grammar)
    plain = with_fewer_rules(without_left_recursion(solid, limits))
    try:
        return build_automaton(plain, limits, writable, join=True)
    except UnsatisfiableSchema:
        fact = "no text that the vocabulary can write is in the grammar's language"
        remedy = "look for a rule that never ends, or a terminal that takes what must follow it"
        raise ConstraintError(fact, remedy=remedy) from None


def _stored(
    key: str,
    vocabulary: Vocabulary,
    limits: Limits,
    store: Store | None,
    write: Callable[[], tuple[Grammar, tuple[Note, ...]]],
    build: Callable[[Grammar, Limits, frozenset[int]], Automaton] = build_automaton,
) -> CompiledConstraint:
    """Return the constraint from `store`, or compile what `write` gives and store it."""
    found = store.load(key, vocabulary) if store else None
    if found is None:
        grammar, notes = write()
        automaton = build(grammar, limits, vocabulary.byte_tokens)
        found = CompiledConstraint(automaton, vocabulary, key, notes)
        if store:
            store.save(found)
    return found

"""Every keyword of every draft, and its answer: the one table that README's list is made from.

    enforced    the mask lets through only texts that satisfy it
    checked     the mask does not narrow by it (in the cases its note names); the finished record is
                validated. Strict mode refuses the schema instead.
    annotation  says nothing about validity
    refused     a schema that holds it is not compiled

A keyword outside the table is an annotation, as the specification says.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

__all__ = ["KEYWORDS", "Answer", "Draft", "Keyword", "KeywordAnswer"]

Answer = Literal["enforced", "checked", "annotation", "refused"]


class Draft(IntEnum):
    """The drafts of JSON Schema, in order of appearance."""

    DRAFT4 = 4
    DRAFT6 = 6
    DRAFT7 = 7
    DRAFT2019 = 2019
    DRAFT2020 = 2020


@dataclass(frozen=True, slots=True)
class Keyword:
    """A row of the table: in which drafts, of which vocabulary, answered how."""

    name: str
    vocabulary: str
    answer: Answer
    first: Draft = Draft.DRAFT4
    last: Draft = Draft.DRAFT2020
    note: str = ""

    def known_in(self, draft: Draft) -> bool:
        """Return whether the draft has this keyword."""
        return self.first <= draft <= self.last


@dataclass(frozen=True, slots=True)
class KeywordAnswer:
    """What becomes of one keyword of a schema; `pointer` is that of the keyword itself."""

    pointer: str
    keyword: str
    answer: Answer
    note: str = ""


_D4, _D6, _D7, _D19, _D20 = Draft
_ROWS = (
    # core
    Keyword("$schema", "core", "enforced", note="chooses the draft; without it 2020-12"),
    Keyword("$id", "core", "enforced", _D6),
    Keyword("id", "core", "enforced", _D4, _D4),
    Keyword(
        "$ref",
        "core",
        "enforced",
        note="inside the document and those given with it; nothing is ever fetched",
    ),
    Keyword("$anchor", "core", "enforced", _D19),
    Keyword("$dynamicRef", "core", "enforced", _D20),
    Keyword("$dynamicAnchor", "core", "enforced", _D20),
    Keyword("$recursiveRef", "core", "enforced", _D19, _D19),
    Keyword("$recursiveAnchor", "core", "enforced", _D19, _D19),
    Keyword("$defs", "core", "enforced", note="in every draft"),
    Keyword("definitions", "core", "enforced", note="in every draft"),
    Keyword("$vocabulary", "core", "annotation", _D19),
    Keyword("$comment", "core", "annotation", _D7),
    # any type
    Keyword("type", "validation", "enforced"),
    Keyword("enum", "validation", "enforced"),
    Keyword("const", "validation", "enforced", _D6),
    # numbers
    Keyword("minimum", "validation", "enforced"),
    Keyword("maximum", "validation", "enforced"),
    Keyword("exclusiveMinimum", "validation", "enforced"),
    Keyword("exclusiveMaximum", "validation", "enforced"),
    Keyword(
        "multipleOf",
        "validation",
        "enforced",
        note="checked where the divisor has too many digits for a small automaton",
    ),
    # strings
    Keyword("minLength", "validation", "enforced", note="in code points"),
    Keyword(
        "maxLength",
        "validation",
        "enforced",
        note="in code points; checked above 100,000 beside most patterns and formats",
    ),
    Keyword("pattern", "validation", "enforced", note="ECMA-262, searched for"),
    Keyword(
        "format",
        "format",
        "enforced",
        note="the listed formats; others are annotations",
    ),
    # arrays
    Keyword("items", "applicator", "enforced"),
    Keyword("prefixItems", "applicator", "enforced", _D20),
    Keyword("additionalItems", "applicator", "enforced", _D4, _D19),
    Keyword("minItems", "validation", "enforced"),
    Keyword("maxItems", "validation", "enforced"),
    Keyword("contains", "applicator", "enforced", _D6),
    Keyword("minContains", "validation", "enforced", _D19),
    Keyword("maxContains", "validation", "enforced", _D19),
    Keyword(
        "uniqueItems",
        "validation",
        "enforced",
        note="by value, while writing; checked where different items might run out",
    ),
    Keyword("unevaluatedItems", "unevaluated", "enforced", _D19),
    # objects
    Keyword("properties", "applicator", "enforced", note="written in this order"),
    Keyword("patternProperties", "applicator", "enforced"),
    Keyword("additionalProperties", "applicator", "enforced"),
    Keyword("required", "validation", "enforced"),
    Keyword(
        "minProperties",
        "validation",
        "enforced",
        note="no key twice; checked where different undeclared keys might run out",
    ),
    Keyword("maxProperties", "validation", "enforced"),
    Keyword("propertyNames", "applicator", "enforced", _D6),
    Keyword("dependencies", "applicator", "enforced", note="in every draft"),
    Keyword("dependentRequired", "validation", "enforced", _D19),
    Keyword("dependentSchemas", "applicator", "enforced", _D19),
    Keyword("unevaluatedProperties", "unevaluated", "enforced", _D19),
    # combinations
    Keyword("allOf", "applicator", "enforced"),
    Keyword("anyOf", "applicator", "enforced"),
    Keyword("oneOf", "applicator", "enforced", note="checked where overlaps grow too large"),
    Keyword("not", "applicator", "enforced"),
    Keyword("if", "applicator", "enforced", _D7),
    Keyword("then", "applicator", "enforced", _D7),
    Keyword("else", "applicator", "enforced", _D7),
    # annotations
    Keyword("title", "meta-data", "annotation"),
    Keyword("description", "meta-data", "annotation"),
    Keyword("default", "meta-data", "annotation"),
    Keyword("examples", "meta-data", "annotation", _D6),
    Keyword("deprecated", "meta-data", "annotation", _D19),
    Keyword("readOnly", "meta-data", "annotation", _D7),
    Keyword("writeOnly", "meta-data", "annotation", _D7),
    Keyword("contentEncoding", "content", "annotation", _D7),
    Keyword("contentMediaType", "content", "annotation", _D7),
    Keyword("contentSchema", "content", "annotation", _D19),
)

KEYWORDS: dict[str, Keyword] = {row.name: row for row in _ROWS}

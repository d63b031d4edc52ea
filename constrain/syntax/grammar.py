"""Grammar text in any format to a Grammar: which reader takes it."""

from __future__ import annotations

import re
from typing import Literal

from constrain.limits import Limits
from constrain.syntax.expr import Grammar
from constrain.syntax.gbnf import read_gbnf
from constrain.syntax.grammar_source import Remark
from constrain.syntax.lark import read_lark

__all__ = ["GrammarFormat", "grammar_format", "read_grammar"]

GrammarFormat = Literal["gbnf", "lark"]

_GBNF_RULE = re.compile(r"^[ \t]*[A-Za-z0-9_-]+[ \t]*::=", re.MULTILINE)


def grammar_format(text: str) -> GrammarFormat:
    """Return the format of a grammar: rules are written `name ::=` in GBNF, `name:` in Lark."""
    return "gbnf" if _GBNF_RULE.search(text) else "lark"


def read_grammar(
    text: str,
    format: GrammarFormat | None = None,  # noqa: A002
    limits: Limits | None = None,
) -> tuple[Grammar, tuple[Remark, ...]]:
    """Return the grammar, and remarks on what is odd in it; raises GrammarError.

    Texts start at the rule `root` in GBNF, `start` in Lark. Without a `format` it is told by the
    text.
    """
    if (format or grammar_format(text)) == "gbnf":
        return read_gbnf(text)
    return read_lark(text, limits or Limits())

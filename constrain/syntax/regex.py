r"""Regexes to Expr: the front end for `--regex` and for JSON Schema's `pattern`.

Takes pattern text, gives the language as an Expr. Both functions read both dialects (see
`regex_parser`); they differ in where the pattern must match. Knows no JSON.

`$`, `\Z` and `\z` stand at the very end of a text only. Python's `re` also lets `$` match before
a final newline; here it does not, so what we generate matches under either reading.
"""

from __future__ import annotations

from functools import lru_cache

from constrain.syntax.expr import Expr
from constrain.syntax.regex_lowering import lower_search, lower_whole
from constrain.syntax.regex_parser import Dialect, parse_tree

__all__ = ["Dialect", "parse_regex", "parse_search"]


@lru_cache(maxsize=1024)
def parse_regex(pattern: str, *, dialect: Dialect = "unicode") -> Expr:
    """Return the language of the texts that match as a whole, as `re.fullmatch` does.

    Raises RegexError, with the column, for what is not a pattern, not regular, or too entangled.
    """
    return lower_whole(parse_tree(pattern, dialect), pattern)


@lru_cache(maxsize=1024)
def parse_search(pattern: str, *, dialect: Dialect = "ecma") -> Expr:
    """Return the language of the texts in which the pattern matches somewhere.

    Raises RegexError, with the column, for what is not a pattern, not regular, or too entangled.
    """
    return lower_search(parse_tree(pattern, dialect), pattern)

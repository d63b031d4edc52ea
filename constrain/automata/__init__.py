"""Expr to automata: character DFAs for set algebra, byte NFAs with calls for everything else.

Knows no JSON and no schema; what it reads is `syntax.expr` alone.
"""

__all__: list[str] = []

r"""The format `regex`: patterns that ECMA-262 and Python's `re` both read, as one regular language.

Gives the pattern of `formats.FORMATS`. Nesting has no bound in a regular expression's own grammar,
so groups nest up to `_NESTING` deep here. Left out, since the two readers differ or one refuses:
back references, named groups, flags, `\p`, `\c`, lookbehinds of more than plain characters, bare
brackets and braces, and ranges with an end beyond ASCII, but for those of `\x` and `\u`.
"""

from __future__ import annotations

__all__ = ["regex_pattern"]

_NESTING = 6
_HEX = "0123456789abcdef"
_ESCAPE = r"\\(?:[dDwWsStnrfv]|[!-/:;=?-@\[-`{-~ ]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})"
_PLAIN = r"[^\^$\\.*+?()\[\]{}|]"


def regex_pattern() -> str:
    """Return the pattern of the texts that are patterns."""
    atom = rf"(?:{_PLAIN}|\.|{_ESCAPE}|{_character_class()})"
    assertion = rf"[\^$]|\\[bB]|\(\?<[=!](?:{_PLAIN}|\.|{_ESCAPE})+\)"
    quantifier = rf"(?:(?:[*+?]|\{{(?:{_counts()})\}})\??)?"
    body = rf"(?:{assertion}|\||{atom}{quantifier})*"
    for _ in range(_NESTING):
        group = rf"\((?:\?[:=!])?{body}\)"
        body = rf"(?:{assertion}|\||(?:{atom}|{group}){quantifier})*"
    return body


def _counts() -> str:
    """Return the pattern of `n`, `n,` and `n,m` where n is at most m."""
    ordered = [f"{a},[{a}-9]" for a in range(10)]
    ordered += [f"{a}[0-9],[{a + 1}-9][0-9]" for a in range(9)]
    ordered += [f"{a}{b},{a}[{b}-9]" for a in range(10) for b in range(10)]
    ordered += [f"{a}[0-9]{{2}},[{a + 1}-9][0-9]{{2}}" for a in range(1, 9)]
    ordered += [f"[0-9]{{{n}}},[1-9][0-9]{{{n},3}}" for n in (1, 2, 3)]
    return "|".join(("[0-9]{1,4},?", *ordered))


def _character_class() -> str:
    r"""Return the pattern of `[...]`. A `-` of its own stands first, last or after a range."""
    item = rf"(?:(?:{_range()})-?|[^\\\[\]^-]|{_ESCAPE}|\\b)"
    return rf"\[\^?(?:-?{item}(?:\^?{item})*\^?-?|-)\]"


def _range() -> str:
    r"""Return the pattern of ranges in order: of ASCII characters, `\xHH` and `\uHHHH`."""
    ends = [chr(c) for c in range(0x20, 0x7F) if chr(c) not in r"\[]-^"]
    ranges = [f"{_quoted(low)}-[{''.join(map(_quoted, ends[i:]))}]" for i, low in enumerate(ends)]
    for i, digit in enumerate(_HEX[:-1]):
        low, high = f"[{digit}{digit.upper()}]", f"[{_HEX[i + 1 :]}{_HEX[i + 1 :].upper()}]"
        for before, after in (("x", ""), ("u", "{3}"), ("u0", "{2}")):
            rest = f"[0-9a-fA-F]{after}"
            ranges.append(rf"\\{before}{low}{rest}-\\{before}{high}{rest}")
    return "|".join(ranges)


def _quoted(char: str) -> str:
    return char if char.isalnum() or char in ' "' else f"\\{char}"

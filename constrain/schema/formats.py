"""The formats whose texts the mask enforces, each as a regular language.

Takes the name of a `format`; gives its language, or None when the name is unknown here (an
annotation then). Each language is a subset of what `jsonschema.FormatChecker` accepts, so that a
finished text always validates; dates know the calendar, leap seconds are left out (the checker
refuses them), and fractions of a second have at most 12 digits.
"""

from __future__ import annotations

from functools import cache

from constrain.schema.regex_format import regex_pattern
from constrain.syntax.expr import ANY_TEXT, Expr, alt, complement, conjunction
from constrain.syntax.regex import parse_regex

__all__ = ["FORMATS", "format_bound", "format_language"]

_MONTH_DAY = (
    "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
# The year 0000 is not one of datetime.date's.
_YEAR = "(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_DATE = f"(?:{_YEAR}-{_MONTH_DAY}|{_LEAP_YEAR}-02-29)"
_HOUR_MINUTE = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = rf"{_HOUR_MINUTE}:[0-5][0-9](?:\.[0-9]{{1,12}})?(?:[Zz]|[+-]{_HOUR_MINUTE})"

_OCTET = "(?:[0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_HEX = "[0-9A-Fa-f]"
_H16 = f"{_HEX}{{1,4}}"
_LS32 = f"(?:{_H16}:{_H16}|{_IPV4})"
_IPV6 = "|".join(
    (
        f"(?:{_H16}:){{6}}{_LS32}",
        f"::(?:{_H16}:){{5}}{_LS32}",
        f"(?:{_H16})?::(?:{_H16}:){{4}}{_LS32}",
        f"(?:(?:{_H16}:){{0,1}}{_H16})?::(?:{_H16}:){{3}}{_LS32}",
        f"(?:(?:{_H16}:){{0,2}}{_H16})?::(?:{_H16}:){{2}}{_LS32}",
        f"(?:(?:{_H16}:){{0,3}}{_H16})?::{_H16}:{_LS32}",
        f"(?:(?:{_H16}:){{0,4}}{_H16})?::{_LS32}",
        f"(?:(?:{_H16}:){{0,5}}{_H16})?::{_H16}",
        f"(?:(?:{_H16}:){{0,6}}{_H16})?::",
    )
)
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN = rf"{_LABEL}(?:\.{_LABEL})*"
_ATEXT = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_QUOTED = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'


def _email(letter: str, domain: str) -> str:
    atom = f"(?:{letter})+"
    local = rf"(?:{atom}(?:\.{atom})*|{_QUOTED})"
    return rf"{local}@(?:{domain}|\[(?:{_IPV4}|IPv6:(?:{_IPV6}))\])"


def _uri_parts(letters: str, private: str) -> tuple[str, str]:
    """Return the patterns of an absolute URI and of a relative reference (RFC 3986, 3987)."""
    encoded = f"%{_HEX}{{2}}"
    plain = rf"[A-Za-z0-9._~!$&'()*+,;={letters}-]"
    host_char = f"(?:{plain}|{encoded})"
    segment_char = rf"(?:[A-Za-z0-9._~!$&'()*+,;=:@{letters}-]|{encoded})"
    no_colon = rf"(?:[A-Za-z0-9._~!$&'()*+,;=@{letters}-]|{encoded})"
    literal_host = rf"\[(?:{_IPV6}|[vV]{_HEX}+\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\]"
    user = rf"(?:(?:[A-Za-z0-9._~!$&'()*+,;=:{letters}-]|{encoded})*@)?"
    authority = rf"//{user}(?:{literal_host}|{host_char}*)(?::[0-9]*)?"
    rooted = f"/(?:{segment_char}+(?:/{segment_char}*)*)?"
    tail = rf"(?:\?(?:{segment_char}|[/?{private}])*)?(?:#(?:{segment_char}|[/?])*)?"
    within = f"(?:{authority}(?:/{segment_char}*)*|{rooted})"
    rootless = f"{segment_char}+(?:/{segment_char}*)*"
    noscheme = f"{no_colon}+(?:/{segment_char}*)*"
    absolute = rf"[A-Za-z][A-Za-z0-9+.-]*:(?:{within}|{rootless})?{tail}"
    return absolute, f"(?:{within}|{noscheme})?{tail}"


_UCS = (
    r"\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"
    + "".join(rf"\u{{{plane:x}0000}}-\u{{{plane:x}fffd}}" for plane in range(1, 0xE))
    + r"\u{e1000}-\u{efffd}"
)
_PRIVATE = r"\ue000-\uf8ff\u{f0000}-\u{ffffd}\u{100000}-\u{10fffd}"
_URI, _RELATIVE = _uri_parts("", "")
_IRI, _IRI_RELATIVE = _uri_parts(_UCS, _PRIVATE)

_DURATION_TIME = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DURATION_DATE = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
_DURATION = f"P(?:{_DURATION_DATE}(?:{_DURATION_TIME})?|{_DURATION_TIME}|[0-9]+W)"
_POINTER = "(?:/(?:[^~/]|~[01])*)*"
_VARCHAR = "[A-Za-z0-9_]"
_VARSPEC = rf"{_VARCHAR}(?:\.?{_VARCHAR})*(?:\*|:[1-9][0-9]{{0,3}})?"
_TEMPLATE = (
    rf"(?:[!#$&(-;=?-\[\]_a-z~{_UCS}{_PRIVATE}]|%{_HEX}{{2}}"
    rf"|\{{[+#./;?&]?{_VARSPEC}(?:,{_VARSPEC})*\}})*"
)

# Rather than count 253 characters beside labels of 63, which takes 16,000 states: up to three
# labels of full length, or up to ten of 24.
_SHORT_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,22}[A-Za-z0-9])?"
_HOSTNAME = rf"{_LABEL}(?:\.{_LABEL}){{0,2}}|{_SHORT_LABEL}(?:\.{_SHORT_LABEL}){{3,9}}"
# Letters of left-to-right scripts that IDNA 2008 takes as they are, in labels so short that their
# ASCII form stays below 63 characters.
_IDN_CHAR = (
    r"[a-z0-9\u00df-\u00f6\u00f8-\u00ff\u03ac-\u03ce\u0430-\u045f\u3041-\u3096\u30a1-\u30fa"
    r"\u4e00-\u9fff\uac00-\ud7a3]"
)
_IDN_LABEL = f"(?:{_IDN_CHAR}(?:(?:{_IDN_CHAR}|-){{0,7}}{_IDN_CHAR})?|{_SHORT_LABEL})"
_IDN_HOSTNAME = rf"{_IDN_LABEL}(?:\.{_IDN_LABEL}){{0,4}}"
# The last label must not be all digits; `xn--` would have to be followed by a valid encoding.
_ALL_DIGITS = r"(?:[\s\S]*\.)?[0-9]+"
_REFUSED = {
    "hostname": (_ALL_DIGITS,),
    "idn-hostname": (_ALL_DIGITS, r"(?:[\s\S]*\.)?[^.][^.]--[\s\S]*"),
}

FORMATS: dict[str, tuple[str, ...]] = {
    "date": (_DATE,),
    "time": (_TIME,),
    "date-time": (f"{_DATE}[Tt]{_TIME}",),
    "duration": (_DURATION,),
    "uuid": ("-".join(f"{_HEX}{{{n}}}" for n in (8, 4, 4, 4, 12)),),
    "email": (_email(_ATEXT, _DOMAIN),),
    "idn-email": (
        _email(rf"{_ATEXT}|[\u00a0-\uffff\u{{10000}}-\u{{10ffff}}]", r"[^\s@\[\]\\\"<>(),;:]+"),
    ),
    "hostname": (_HOSTNAME,),
    "idn-hostname": (_IDN_HOSTNAME,),
    "ipv4": (_IPV4,),
    "ipv6": (_IPV6,),
    "uri": (_URI,),
    "uri-reference": (_URI, _RELATIVE),
    "iri": (_IRI,),
    "iri-reference": (_IRI, _IRI_RELATIVE),
    "uri-template": (_TEMPLATE,),
    "json-pointer": (_POINTER,),
    # The checker takes no digit after a zero.
    "relative-json-pointer": (rf"(?:0|[1-9]+0?)(?:#|{_POINTER})",),
    "regex": (regex_pattern(),),
}


# What holds each format and more, for complements: a checker may know better than the languages
# above. Those of uri-template and regex hold every text, so that nothing is known not to be one.
_BOUNDS = {
    "date": "[\\s\\S]{4}-[\\s\\S]{2}-[\\s\\S]{2}",
    "time": "[\\s\\S]{2}:[\\s\\S]{2}:[\\s\\S]*",
    "date-time": "[\\s\\S]{11}[\\s\\S]{2}:[\\s\\S]*",
    "duration": "[+-]?P[\\s\\S]*",
    "uuid": "[\\s\\S]{8}-[\\s\\S]*",
    "email": "[\\s\\S]*@[\\s\\S]*",
    "idn-email": "[\\s\\S]*@[\\s\\S]*",
    "hostname": "[A-Za-z0-9.-]*",
    "ipv4": "[0-9.]*",
    "ipv6": "[\\s\\S]*:[\\s\\S]*",
    "uri": "[\\s\\S]*:[\\s\\S]*",
    "iri": "[\\s\\S]*:[\\s\\S]*",
    "uri-reference": r"[^ <>\"{}|\\^`]*",
    "iri-reference": r"[^ <>\"{}|\\^`]*",
    "json-pointer": "(?:/[\\s\\S]*)?",
    "relative-json-pointer": "[0-9][\\s\\S]*",
}


@cache
def format_bound(name: str) -> Expr:
    """Return a language that holds all texts of a format, and perhaps more."""
    pattern = _BOUNDS.get(name)
    return ANY_TEXT if pattern is None else parse_regex(pattern, dialect="unicode")


@cache
def format_language(name: str) -> Expr | None:
    """Return the language of a format, or None for one that is not enforced."""
    patterns = FORMATS.get(name)
    if patterns is None:
        return None
    language = alt(*(parse_regex(pattern, dialect="unicode") for pattern in patterns))
    refused = (complement(parse_regex(p)) for p in _REFUSED.get(name, ()))
    return conjunction((language, *refused))

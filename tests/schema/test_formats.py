"""Formats: every text the mask lets through passes python-jsonschema's format checker."""

from __future__ import annotations

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrain import compile_schema
from constrain.schema import schema_grammar
from constrain.schema.formats import FORMATS, format_bound, format_language
from constrain.schema.membership import contains
from tests.conformance.vocabularies import BYTES

CHECKER = jsonschema.Draft202012Validator.FORMAT_CHECKER
GOOD = {
    "date": ["2024-02-29", "2000-02-29", "1999-12-31", "0001-01-01", "2023-04-30"],
    "time": ["00:00:00Z", "23:59:59.5+01:30", "12:00:00-00:00"],
    "date-time": [
        "2025-10-22T15:50:22Z",
        "2025-10-22T15:50:22.113199+03:00",
        "1963-06-19t08:30:06z",
    ],
    "duration": ["P4DT12H30M5S", "P1Y", "PT1M", "P4W", "P1Y2M3DT4H"],
    "uuid": ["123e4567-e89b-12d3-a456-426655440000", "2EB8AA08-AA98-11EA-B4AA-73B441D16380"],
    "email": [
        "a@b.co",
        "joe.bloggs@example.com",
        "te~st@example.com",
        '"joe bloggs"@example.com',
        "joe.bloggs@[127.0.0.1]",
        "a+b@x-y.org",
    ],
    "idn-email": ["실례@실례.테스트", "a@b.co"],
    "hostname": ["www.example.com", "localhost", "xn--4gbwdl.xn--wgbh1c", "a-b.c1"],
    "idn-hostname": [
        "www.example.com",
        "bücher.example",
        "例え.テスト",
        "실례.테스트",
        "пример.рф",
    ],
    "regex": [
        "^[a-z0-9-_]+$",
        r"(?:a|b)*?\.(?=x)[^\]-]{2,3}",
        r"^\u00e9[\u4e00-\u9fff \-~]{10,}$",
        r"((\d{4})-(\d{2}))?(?<!a)b",
        "",
        "a||b",
    ],
    "ipv4": ["192.168.0.1", "0.0.0.0", "255.255.255.255"],
    "ipv6": ["::1", "::", "12:34:56:78:9a:bc:de:f0", "::ffff:192.168.0.1", "fe80::a", "1::"],
    "uri": [
        "http://a.b/c?d#e",
        "urn:oasis:names:tc",
        "mailto:a@b.co",
        "http://[::1]:80/",
        "file:///x",
        "http://x.y/a%20b",
        "ftp://user:pw@h:21/p;a=b",
        "tel:+1-816-555-1212",
        "a:",
    ],
    "uri-reference": ["/abc", "//x/y", "a/b?c", "#frag", "", "http://x"],
    "iri": ["http://ƒøø.ßår/?∂éœ=πîx#πîüx", "http://a/b"],
    "iri-reference": ["/âππ", "#ƒrägmênt", ""],
    "uri-template": ["http://example.com/dictionary/{term:1}/{term}", "a{?x,y*}", ""],
    "json-pointer": ["", "/foo/0", "/a~1b/~0", "/"],
    "relative-json-pointer": ["1", "0/foo/bar", "2#", "0"],
}
BAD = {
    "date": [
        "2023-02-29",
        "1900-02-29",
        "2024-13-01",
        "2024-04-31",
        "0000-01-01",
        "2024-1-01",
        "x",
    ],
    "time": ["24:00:00Z", "12:00Z", "12:00:00", "12:00:60Z", "08:30:06+24:00"],
    "date-time": [
        "2024-01-01",
        "2025-10-22T15:50:22",
        "2025-10-22T25:00:00Z",
        "1990-02-30T00:00:00Z",
        "2025-10-22 15:50:22Z",
    ],
    "duration": ["PT1D", "4DT12H30M5S", "P", "P1YT", "P2D1Y", "P1W2D"],
    "uuid": ["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638", "x"],
    "email": ["ab", "a@", ".test@example.com", "te..st@example.com", "a b@c.d"],
    "idn-email": ["2962", "@b"],
    "hostname": ["-a-", "a..b", "", "a_b", "-x.org"],
    "idn-hostname": ["-a", "a..b", "", "a_b", "Bücher.example", "xn--4gbwdl", "ab--c.de", "1.2"],
    "regex": [
        "(",
        "a)",
        "[a",
        "[]",
        "[^]",
        "*a",
        "a**",
        "^*",
        "[z-a]",
        "a{2,1}",
        "a{",
        "\\",
        r"[\w-.]",
        r"\p{L}",
        r"(?<n>a)",
        r"(a)\1",
        r"\u12",
        r"(?<=a*)b",
    ],
    "ipv4": ["127.0.0.0.1", "256.1.1.1", "127.0", "087.10.0.1", "1.1.1.1 "],
    "ipv6": ["1.2.3", "12345::", "1:1:1:1:1:1:1:1:1", "::abef:%eth0", "1::2::3"],
    "uri": [
        "a b",
        "//foo.bar/x",
        "/abc",
        "http://a/é",
        "\\\\WINDOWS\\x",
        ":// should fail",
        "http://[::1",
    ],
    "uri-reference": ["\\\\W\\x", "a b", "#frag\\x", "é"],
    "iri": ["/abc", "http://2001:0db8:85a3:0000:0000:8a2e:0370:7334 x", "\\\\W"],
    "iri-reference": ["\\\\W", "#ƒräg\\mênt"],
    "uri-template": ["http://example.com/{term", "{", "a}", "{a b}"],
    "json-pointer": ["a", "/foo/bar~", "/~01/~2", "#"],
    "relative-json-pointer": ["/foo", "-1/foo", "01/a", "0##", ""],
}


def member(name: str, text: str) -> bool:
    found = format_language(name)
    assert found is not None
    return contains(found, text)


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_holds_what_it_should_and_no_more(name: str) -> None:
    assert [text for text in GOOD[name] if not member(name, text)] == []
    assert [text for text in BAD[name] if member(name, text)] == []


@settings(max_examples=60, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("name", FORMATS)
def test_a_text_of_a_format_passes_the_checker(name: str, data: st.DataObject) -> None:
    """Texts one or two edits away from good ones: where the languages are most likely to differ."""
    text = data.draw(st.sampled_from(GOOD[name]))
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(text)))
        kept = data.draw(st.integers(0, 1))
        new = data.draw(
            st.sampled_from([*"0159aZzTt:-.@/?#[]%~{}+_PYWé ^*(|)\\,", "", "%41", "::", "02-29"])
        )
        text = text[:at] + new + text[at + kept :]
    if member(name, text):
        assert CHECKER.conforms(text, name), text
    if CHECKER.conforms(text, name):
        assert contains(format_bound(name), text), text


def test_an_unknown_format_is_an_annotation() -> None:
    assert format_language("topic") is None
    assert schema_grammar({"type": "string", "format": "topic"}).answers == ()


def test_an_address_of_bounded_length_is_counted() -> None:
    """As a product with its length it takes 300,000 states."""
    schema = {"type": "string", "format": "email", "maxLength": 1024}
    assert len(compile_schema(schema, BYTES).automaton.distance) < 5_000

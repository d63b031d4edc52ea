"""Random schemas of all keywords, through the whole engine, against two validators.

What a Matcher lets through validates with `jsonschema` and `jsonschema_rs`, formats asserted. What
they accept is possible with its keys in some order, unless the schema was refused.
"""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import jsonschema_rs
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.conformance.data import Trial
from tests.sampling import sampled
from tests.schema.test_random import instances, merged, schemas

CHECKER = jsonschema.Draft202012Validator.FORMAT_CHECKER
formats = st.sampled_from(["date", "time", "email", "ipv4", "uuid", "regex", "hostname", "uri"])
names = st.sampled_from(["p", "q"])


def wide(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas of the keywords that `test_random` leaves out."""
    steps = st.sampled_from([2, 3, 0.5, 2.5, 1.5, 0.25])
    limits: list[dict[str, Any]] = [{"minimum": 0}, {"maximum": 9.5}, {"exclusiveMaximum": 3}, {}]
    bounds = st.sampled_from(limits)
    pair = st.tuples(inner, inner)
    return st.one_of(
        names.map(lambda name: {"$ref": f"#/$defs/{name}"}),
        st.just({"$ref": "#"}),
        formats.map(lambda name: {"format": name}),
        st.tuples(formats, st.integers(1, 12)).map(lambda p: {"format": p[0], "maxLength": p[1]}),
        inner.map(lambda s: {"items": s, "uniqueItems": True}),
        st.just({"uniqueItems": True}),
        st.tuples(steps, bounds).map(lambda p: {"type": "number", "multipleOf": p[0], **p[1]}),
        steps.map(lambda step: {"not": {"multipleOf": step}}),
        pair.map(lambda p: {"dependentSchemas": {"a": p[0]}, "unevaluatedProperties": p[1]}),
        pair.map(lambda p: {"if": p[0], "then": p[1], "unevaluatedProperties": False}),
        pair.map(lambda p: {"prefixItems": [p[0]], "contains": p[1], "unevaluatedItems": False}),
        pair.map(lambda p: {"oneOf": list(p), "minProperties": 1}),
        st.tuples(inner, st.integers(0, 2)).map(lambda p: {"contains": p[0], "minContains": p[1]}),
    )


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A schema with definitions that it, and they, may refer to."""
    part = st.recursive(
        schemas, lambda inner: st.lists(wide(inner) | inner, min_size=1, max_size=2).map(_both)
    )
    schema = _both([draw(part), draw(wide(part))])
    inside = st.one_of(part, wide(part)).map(lambda s: {"properties": {"a": s}, "items": s})
    return {**schema, "$defs": {"p": draw(part), "q": draw(inside)}}


def _both(parts: list[Any]) -> dict[str, Any]:
    whole: list[dict[str, Any]] = [
        part if isinstance(part, dict) else {} if part else {"not": {}} for part in parts
    ]
    keywords = [keyword for part in whole for keyword in part]
    return merged(whole) if len(keywords) == len(set(keywords)) else {"allOf": whole}


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(schema=documents(), candidates=st.lists(instances, max_size=8), seed=st.integers(0, 99))
def test_the_engine_agrees_with_both_validators(
    schema: dict[str, Any], candidates: list[Any], seed: int
) -> None:
    try:
        check(schema, candidates, random.Random(seed))
    except RecursionError:
        assume(False)


def check(schema: dict[str, Any], candidates: list[Any], rng: random.Random) -> None:
    python = jsonschema.Draft202012Validator(schema, format_checker=CHECKER)
    rust = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    trial = Trial(schema)
    if trial.is_unsatisfiable:
        assert not any(python.is_valid(value) for value in candidates), "not unsatisfiable"
        return
    assume(not trial.refusal)
    for text in sampled(trial.masks, rng, 4):
        value = json.loads(text)
        assert python.is_valid(value), f"too loose: {text}"
        assert rust.is_valid(value), f"too loose for jsonschema_rs: {text}"
    for value in candidates:
        if python.is_valid(value):
            assert trial.accepts_some_order(value), f"too strict: {value!r}"
        else:
            assert not trial.accepts_some_order(value), f"too loose: {value!r}"

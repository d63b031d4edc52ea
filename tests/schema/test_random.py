"""Random schemas from the whole keyword set against python-jsonschema."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from constrain.errors import LimitExceeded, UnsatisfiableSchema, UnsupportedSchema
from constrain.schema import normalize
from tests.expr_oracle import accepts
from tests.schema.languages import compact, orders, written

KEYS = ("a", "b", "ab", "c")
keys = st.sampled_from(KEYS)
scalars = st.sampled_from([None, True, False, 0, 1, 2, -1, 1.5, "", "a", "ab", "b"])
# Keys in the canonical order: declared first, then others.
instances = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(keys, inner, max_size=3).map(lambda d: {k: d[k] for k in KEYS if k in d}),
    ),
    max_leaves=6,
)
counts = st.integers(0, 3)
patterns = st.sampled_from(["a", "^a", "b$", "^[ab]$", "^$"])


def assertions() -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.sampled_from(["null", "boolean", "number", "integer", "string", "array", "object"]).map(
            lambda kind: {"type": kind}
        ),
        st.lists(st.sampled_from(["object", "integer", "string", "array"]), min_size=1).map(
            lambda kinds: {"type": list(dict.fromkeys(kinds))}
        ),
        st.lists(instances, min_size=1, max_size=3).map(lambda values: {"enum": values}),
        instances.map(lambda value: {"const": value}),
        st.sampled_from(["minimum", "maximum", "exclusiveMinimum"]).map(lambda k: {k: 1}),
        st.just({"multipleOf": 2}),
        st.tuples(
            st.sampled_from(["minLength", "maxLength", "maxItems", "maxProperties"]), counts
        ).map(lambda pair: dict([pair])),
        st.sampled_from([{"minItems": 1}, {"minItems": 2}, {"minProperties": 1}]),
        patterns.map(lambda pattern: {"pattern": pattern}),
        st.lists(keys, max_size=2).map(lambda names: {"required": list(dict.fromkeys(names))}),
        st.sampled_from([{"dependentRequired": {"a": ["b"]}}, {"dependentRequired": {"c": ["a"]}}]),
    )


def combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    ordered = st.dictionaries(keys, inner, max_size=3).map(
        lambda d: {k: d[k] for k in KEYS if k in d}
    )
    some = st.lists(inner, min_size=1, max_size=2)
    return st.one_of(
        ordered.map(lambda d: {"properties": d}),
        st.tuples(ordered, inner).map(
            lambda pair: {"properties": pair[0], "additionalProperties": pair[1]}
        ),
        st.dictionaries(patterns, inner, max_size=2).map(lambda d: {"patternProperties": d}),
        inner.map(lambda s: {"propertyNames": s}),
        inner.map(lambda s: {"items": s}),
        st.tuples(some, inner).map(lambda p: {"prefixItems": p[0], "items": p[1]}),
        inner.map(lambda s: {"contains": s}),
        st.tuples(inner, counts).map(
            lambda p: {"contains": p[0], "maxContains": p[1], "minContains": 0}
        ),
        some.map(lambda s: {"allOf": s}),
        some.map(lambda s: {"anyOf": s}),
        some.map(lambda s: {"oneOf": s}),
        inner.map(lambda s: {"not": s}),
        st.tuples(inner, inner, inner).map(lambda p: {"if": p[0], "then": p[1], "else": p[2]}),
        inner.map(lambda s: {"dependentSchemas": {"a": s}}),
        st.tuples(some, inner).map(lambda p: {"anyOf": p[0], "unevaluatedProperties": p[1]}),
        st.tuples(some, inner).map(lambda p: {"allOf": p[0], "unevaluatedItems": p[1]}),
    )


def merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {k: v for part in parts for k, v in part.items()}


schemas = st.recursive(
    st.one_of(st.booleans(), assertions(), st.lists(assertions(), max_size=3).map(merged)),
    lambda inner: st.lists(st.one_of(assertions(), combined(inner)), min_size=1, max_size=3).map(
        merged
    ),
    max_leaves=6,
)


COMMON = settings(deadline=None, suppress_health_check=list(HealthCheck))
some_instances = st.lists(instances, min_size=4, max_size=12)


@settings(COMMON, max_examples=600)
@given(schema=schemas, candidates=some_instances)
def test_texts_are_accepted_exactly_when_they_validate(schema: Any, candidates: list[Any]) -> None:
    check(schema, candidates)


@settings(COMMON, max_examples=400)
@given(schema=schemas, candidates=some_instances)
def test_clauses_say_the_same_as_what_is_multiplied_out(schema: Any, candidates: list[Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, least in {"FAILURES": 0, "KEPT": 0, "ALTERNATIVES": 1}.items():
            patch.setattr(normalize, f"_MAX_{name}", least)
        check(schema, candidates)


def check(schema: Any, candidates: list[Any]) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    try:
        found = written(schema)
    except UnsatisfiableSchema:
        assert not any(validator.is_valid(value) for value in candidates), "not unsatisfiable"
        return
    except (UnsupportedSchema, LimitExceeded):
        assume(False)
    for value in candidates:
        valid, member = validator.is_valid(value), accepts(found.grammar, compact(value))
        if member and not found.answers:
            assert valid, f"too loose: {value!r}"
        if valid:
            assert any(accepts(found.grammar, text) for text in orders(value)), f"strict: {value!r}"

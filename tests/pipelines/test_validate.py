"""Tests of pipelines.validate."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, TypeAdapter, field_validator, model_validator

from pipelines.validate import Fault, Validator, asserted_formats

__all__: list[str] = []


@pytest.mark.parametrize(
    ("schema", "value", "pointer", "keyword"),
    [
        ({"properties": {"a/b": {"minimum": 3}}}, {"a/b": 1}, "/a~1b", "minimum"),
        ({"items": {"type": "string"}}, ["x", 1], "/1", "type"),
        ({"uniqueItems": True}, [1, 1], "", "uniqueItems"),
        ({"required": ["x"]}, {}, "", "required"),
        ({"pattern": r"^\p{L}+$"}, "1", "", "pattern"),
        (False, 1, "", "None"),
    ],
)
def test_faults_name_place_and_keyword(schema: Any, value: Any, pointer: str, keyword: str) -> None:
    [fault] = Validator(schema).faults(value)
    assert (fault.pointer, fault.keyword) == (pointer, keyword)


@pytest.mark.parametrize("name", asserted_formats())
def test_listed_formats_are_asserted(name: str) -> None:
    wrong = "no such (thing {"
    assert [f.keyword for f in Validator({"format": name}).faults(wrong)] == ["format"]


def test_a_time_needs_an_offset_and_may_have_one() -> None:
    assert Validator({"format": "time"}).faults("12:00:00Z") == ()
    assert Validator({"format": "time"}).faults("12:00:00")


def test_other_formats_are_annotations() -> None:
    assert Validator({"format": "color"}).faults("(") == ()


def test_the_dialect_decides_what_a_keyword_means() -> None:
    draft4 = {"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 3}
    assert Validator({**draft4, "exclusiveMaximum": True}).faults(3)


def test_a_valid_value_has_no_faults() -> None:
    assert Validator({"type": "integer"}).faults(3) == ()


def test_faults_are_at_most_twenty() -> None:
    assert len(Validator({"items": {"type": "string"}}).faults(list(range(100)))) == 20


def test_nothing_is_fetched() -> None:
    with pytest.raises(Exception, match="Unresolvable"):
        Validator({"$ref": "http://localhost:9/schema.json"}).faults(1)


class Line(BaseModel):
    amount: float

    @field_validator("amount")
    @classmethod
    def positive(cls, value: float) -> float:
        if value <= 0:
            raise ValueError("an amount is positive")
        return value


class Bill(BaseModel):
    lines: list[Line]
    total: Annotated[float | str, Field(union_mode="left_to_right")]

    @model_validator(mode="after")
    def adds_up(self) -> Bill:
        if self.total != sum(line.amount for line in self.lines):
            raise ValueError("the total is not the sum")
        return self


def bill(lines: list[float], total: Any) -> tuple[Fault, ...]:
    adapter: TypeAdapter[Any] = TypeAdapter(Bill)
    value = {"lines": [{"amount": amount} for amount in lines], "total": total}
    return Validator(adapter.json_schema(), adapter).faults(value)


def test_the_models_validators_speak_at_their_places() -> None:
    assert bill([5, -1], 4) == (Fault("/lines/1/amount", "model", "an amount is positive"),)


def test_a_validator_of_the_whole_model_speaks_at_the_root() -> None:
    assert bill([5, 1], 7) == (Fault("", "model", "the total is not the sum"),)


def test_the_model_is_not_asked_about_what_the_schema_refuses() -> None:
    [first, *_] = bill([5], None)
    assert (first.pointer, first.keyword) == ("/total", "anyOf")


def test_a_validator_that_breaks_is_a_fault() -> None:
    class Broken(BaseModel):
        x: int

        @field_validator("x")
        @classmethod
        def broken(cls, value: int) -> int:
            return value // 0

    adapter: TypeAdapter[Any] = TypeAdapter(Broken)
    [fault] = Validator(adapter.json_schema(), adapter).faults({"x": 1})
    assert "ZeroDivisionError" in fault.reason

"""Tests of pipelines.collector."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipelines.collector import Collector, Outcome
from pipelines.records import Record, RecordError
from pipelines.tally import FieldsTally
from tests.pipelines.stand_in import Watcher

__all__: list[str] = []


class ListSink:
    def __init__(self) -> None:
        self.ids: list[str] = []

    def write(self, record: Record) -> None:
        self.ids.append(record.id)


@given(st.permutations(range(12)))
def test_records_leave_in_input_order_whatever_order_they_come_in(order: list[int]) -> None:
    sink = ListSink()
    collector = Collector(sink, FieldsTally(), Watcher())
    for number in order:
        collector.put(number, Outcome(Record(str(number), "ok", number)))
    assert sink.ids == [str(n) for n in range(12)]


def test_a_record_leaves_as_soon_as_its_turn_has_come() -> None:
    sink = ListSink()
    collector = Collector(sink, FieldsTally(), Watcher())
    collector.put(1, Outcome(Record("b", "ok")))
    assert sink.ids == []
    collector.put(0, Outcome(Record("a", "ok")))
    assert sink.ids == ["a", "b"]


def test_everything_is_counted() -> None:
    watcher, tally = Watcher(), FieldsTally()
    collector = Collector(ListSink(), tally, watcher)
    bad = RecordError("validate", "too small", "/n", "minimum")
    collector.put(0, Outcome(Record("a", "ok", {"n": 1}), tokens=5, prompt_tokens=7))
    collector.put(1, Outcome(Record("b", "invalid", {"n": 0}, (bad,)), tokens=4, prompt_tokens=7))
    cut = {"truncated_input": {}}
    collector.put(2, Outcome(Record("c", "error", None, (RecordError("read", "no"),), meta=cut)))
    assert dict(collector.statuses) == {"ok": 1, "invalid": 1, "error": 1}
    assert dict(collector.stages) == {"validate": 1, "read": 1}
    assert dict(collector.keywords) == {"minimum": 1}
    assert (collector.tokens, collector.prompt_tokens, collector.truncated) == (9, 14, 1)
    assert collector.first_errors == ["b: too small", "c: no"]
    assert watcher.documents == 3
    assert tally.finish()[0].rows == 2

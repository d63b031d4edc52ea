"""The store gives back what was saved, or nothing with a warning: never a damaged constraint."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

from constrain import packed
from constrain.compiler import compile_choices, compile_json, compile_regex, compile_schema
from constrain.matcher import Matcher
from constrain.schema import SchemaOptions
from constrain.store import Store, StoreWarning
from constrain.vocabulary import Vocabulary

BYTES = Vocabulary.of([bytes([b]) for b in range(256)], [256])
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "constraints")


def no_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr("constrain.compiler.build_automaton", refuse)
    monkeypatch.setattr("constrain.compiler.schema_grammar", refuse)


def test_a_second_compile_of_a_schema_compiles_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = compile_schema(SCHEMA, BYTES, store=store)
    no_compile(monkeypatch)
    second = compile_schema(SCHEMA, BYTES, store=store)
    for ours, theirs in zip(first.automaton, second.automaton, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
        assert theirs.flags.writeable, "kernels are compiled anew for arrays that are not"
        assert ours.dtype == theirs.dtype
    assert second.notes == first.notes
    assert second.key == first.key
    matcher = Matcher(second)
    assert matcher.accept_bytes(b'{"a":1}')
    assert matcher.is_accepting()


def test_regexes_choices_and_json_mode_are_stored_too(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def all_three() -> list[str]:
        return [
            compile_regex("a+", BYTES, store=store).key,
            compile_choices(["a", "b"], BYTES, store=store).key,
            compile_json(BYTES, store=store).key,
        ]

    keys = all_three()
    no_compile(monkeypatch)
    assert all_three() == keys
    assert sorted(entry.key for entry in store.entries()) == sorted(keys)


def test_options_vocabulary_and_constraint_each_change_the_key() -> None:
    other = Vocabulary.of([b"a"] + [bytes([b]) for b in range(1, 256)], [256])
    keys = {
        compile_schema(SCHEMA, BYTES).key,
        compile_schema(SCHEMA, other).key,
        compile_schema(SCHEMA, BYTES, SchemaOptions(whitespace="compact")).key,
        compile_schema({**SCHEMA, "required": []}, BYTES).key,
        compile_schema({"properties": SCHEMA["properties"], **SCHEMA}, BYTES).key,
    }
    assert len(keys) == 5, "the order of keys is part of a schema: it is the order of properties"


def saved_path(store: Store) -> Path:
    compile_schema(SCHEMA, BYTES, store=store)
    return store.entries()[0].path


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"not a constraint",
        lambda data: data + b"\0" * 8,
        lambda data: data[: len(data) // 2],
        lambda data: data[:-100] + b"\0" * 100,
        lambda data: data[:800] + bytes([data[800] ^ 1]) + data[801:],
    ],
)
def test_a_damaged_file_is_rebuilt_with_a_warning(store: Store, damage) -> None:  # type: ignore[no-untyped-def]
    path = saved_path(store)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    with pytest.warns(StoreWarning, match="built again"):
        compiled = compile_schema(SCHEMA, BYTES, store=store)
    assert Matcher(compiled).accept_bytes(b'{"a":1}')
    assert store.load(compiled.key, BYTES) is not None


def test_a_file_of_another_constraint_is_not_believed(store: Store) -> None:
    path = saved_path(store)
    other = store._path("ff" * 32)
    other.parent.mkdir(parents=True)
    other.write_bytes(path.read_bytes())
    with pytest.warns(StoreWarning, match="another format or constraint"):
        assert store.load("ff" * 32, BYTES) is None


def test_states_out_of_bounds_are_not_believed(store: Store) -> None:
    compiled = compile_schema(SCHEMA, BYTES)
    broken = compiled.automaton._replace(start=np.array([10**6], dtype=np.int32))
    with pytest.raises(ValueError, match="out of bounds"):
        packed.check(broken)


def test_pickled_objects_are_never_loaded(store: Store) -> None:
    path = saved_path(store)
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.warns(StoreWarning):
        assert store.load(path.stem, BYTES) is None


def test_many_writers_and_readers_see_whole_files(store: Store) -> None:
    compiled = compile_schema(SCHEMA, BYTES)
    store.save(compiled)
    seen: list[bool] = []

    def work() -> None:
        for _ in range(20):
            store.save(compiled)
            seen.append(store.load(compiled.key, BYTES) is not None)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 80
    assert [p.suffix for p in store.entries()[0].path.parent.iterdir()] == [".tables"]


def test_pruning_removes_the_least_recently_used_first(store: Store) -> None:
    keys = [compile_choices([str(i)], BYTES, store=store).key for i in range(4)]
    for age, key in enumerate([2, 0, 3, 1]):
        import os

        os.utime(store._path(keys[key]), (age, age))
    assert [entry.key for entry in store.entries()] == [keys[k] for k in [2, 0, 3, 1]]
    size = store.entries()[0].nbytes
    removed = store.prune(max_bytes=2 * size + size // 2)
    assert [entry.key for entry in removed] == [keys[2], keys[0]]
    assert store.prune(max_bytes=0)
    assert store.entries() == []


def test_a_folder_that_cannot_be_written_is_only_a_warning(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.warns(StoreWarning, match="could not be stored"):
        compiled = compile_choices(["a"], BYTES, store=Store(blocked))
    assert Matcher(compiled).accept_bytes(b"a")

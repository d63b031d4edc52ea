from __future__ import annotations

from pathlib import Path

import pytest

from cli.settings import SettingsError, build, default_map, read_settings
from pipelines.config import ClassifyConfig, ExtractConfig
from pipelines.errors import ConfigError

__all__: list[str] = []

NAMES = {"extract": {"model", "seed", "batch_size"}, "classify": {"model", "calibrate"}}
GIVEN = {"inputs": ["a.txt"], "regex": "a+"}


def test_parameters_land_in_the_groups_of_the_config() -> None:
    config = build(ExtractConfig, {"inputs": ["a.txt"], "schema": "{}", "model": "m", "top_k": 3})
    assert config.inputs.paths == ("a.txt",)
    assert config.constraint.schema_spec == "{}"
    assert (config.model.name, config.decoding.top_k) == ("m", 3)


def test_a_parameter_that_is_none_or_empty_keeps_the_default() -> None:
    config = build(ExtractConfig, GIVEN | {"seed": None, "keep": [], "output": None})
    assert (config.decoding.seed, config.inputs.keep, config.output.path) == (0, (), "-")


def test_false_is_a_value_of_its_own() -> None:
    given = {"inputs": ["a.txt"], "choices": ["a", "b"], "calibrate": False}
    assert build(ClassifyConfig, given).labels.calibrate is False


@pytest.mark.parametrize(
    ("parameters", "flag"),
    [
        ({"batch_size": 0}, "--batch-size"),
        ({"top_p": 2.0}, "--top-p"),
        ({"whitespace": "wide"}, "--whitespace"),
        ({"model": ""}, "--model"),
    ],
)
def test_a_bad_value_is_named_by_its_flag(parameters: dict[str, object], flag: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build(ExtractConfig, GIVEN | parameters)
    assert caught.value.place == flag


def test_a_fault_between_flags_speaks_for_itself() -> None:
    with pytest.raises(ConfigError) as caught:
        build(ExtractConfig, GIVEN | {"schema": "{}"})
    told = "give exactly one of schema, regex, grammar, tags, tools, choices and choices_file"
    assert str(caught.value) == f"{told}, or schema_field"


def test_flags_at_the_top_are_for_every_command_that_has_them() -> None:
    settings = {"model": "m", "extract": {"batch-size": 4}, "seed": 7}
    assert default_map(settings, NAMES, "constrain.toml") == {
        "extract": {"model": "m", "batch_size": 4, "seed": 7},
        "classify": {"model": "m"},
    }


def test_a_flag_in_the_table_of_a_command_beats_the_one_at_the_top() -> None:
    settings = {"model": "m", "classify": {"model": "n"}}
    assert default_map(settings, NAMES, "constrain.toml")["classify"] == {"model": "n"}


@pytest.mark.parametrize(
    ("settings", "key"),
    [({"modle": "m"}, "modle"), ({"classify": {"seed": 1}}, "classify.seed")],
)
def test_an_unknown_flag_in_the_file_is_refused(settings: dict[str, object], key: str) -> None:
    with pytest.raises(SettingsError, match=f"constrain.toml: no flag is called '{key}'"):
        default_map(settings, NAMES, "constrain.toml")


def test_a_flag_where_a_table_is_expected_is_refused() -> None:
    with pytest.raises(SettingsError, match="extract"):
        default_map({"extract": 3}, NAMES, "constrain.toml")


@pytest.mark.parametrize(("data", "fact"), [(b"a =", "is no TOML"), (b"\xff", "is no TOML")])
def test_a_broken_file_is_named(tmp_path: Path, data: bytes, fact: str) -> None:
    path = tmp_path / "constrain.toml"
    path.write_bytes(data)
    with pytest.raises(SettingsError, match=fact):
        read_settings(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no\.toml: cannot be read: No such file"):
        read_settings(tmp_path / "no.toml")

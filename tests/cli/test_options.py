from __future__ import annotations

import re
from typing import Any

import pytest
from typer.main import get_command

from cli.main import app
from cli.settings import places
from pipelines.config import ClassifyConfig, ExtractConfig

__all__: list[str] = []

COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
KINDS = {"extract": ExtractConfig, "classify": ClassifyConfig}


def flags(command: str) -> list[Any]:
    return [p for p in COMMANDS[command].params if p.param_type_name == "option"]


@pytest.mark.parametrize("command", KINDS)
def test_every_option_of_the_config_has_a_flag(command: str) -> None:
    parameters = {parameter.name for parameter in COMMANDS[command].params}
    assert places(KINDS[command]).keys() <= parameters


@pytest.mark.parametrize("command", KINDS)
def test_every_flag_but_quiet_fills_a_place_of_the_config(command: str) -> None:
    parameters = {parameter.name for parameter in COMMANDS[command].params}
    assert parameters - places(KINDS[command]).keys() == {"quiet"}


@pytest.mark.parametrize("command", KINDS)
def test_every_flag_has_help_and_a_variable_of_its_name(command: str) -> None:
    for flag in flags(command):
        assert flag.help, flag.name
        assert flag.envvar == f"CONSTRAIN_{flag.name.upper()}"


@pytest.mark.parametrize("command", KINDS)
def test_a_default_that_help_names_is_the_default_of_the_config(command: str) -> None:
    for flag in flags(command):
        shown = re.search(r"\(default (\S+)\)", flag.help)
        if shown is None or flag.name in {"text_field", "text_column", "encoding", "max_bytes"}:
            continue
        group, field = places(KINDS[command])[flag.name]
        group_type = KINDS[command].model_fields[group].annotation
        default = str(group_type.model_fields[field].default)
        assert default.removesuffix(".0") == shown[1], flag.name


@pytest.mark.parametrize("command", KINDS)
def test_a_switch_is_off_unless_the_config_has_it_on(command: str) -> None:
    for flag in flags(command):
        if flag.is_flag and flag.name != "quiet":
            group, field = places(KINDS[command])[flag.name]
            group_type = KINDS[command].model_fields[group].annotation
            assert flag.default is group_type.model_fields[field].default, flag.name

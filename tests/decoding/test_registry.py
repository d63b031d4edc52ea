"""Where models are looked for, and what is said when they are not there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from constrain.decoding import gguf, registry
from constrain.decoding.model import ModelSpec, load_model
from constrain.errors import ModelError


@pytest.fixture(autouse=True)
def empty_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    return tmp_path / "cache"


def finished(cache: Path, name: str) -> Path:
    folder = cache / "models" / name
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    return folder


@pytest.mark.parametrize("name", ["./no/such", "/no/such/folder", "~/nothing", "typo", "a/b/c"])
def test_a_path_or_name_that_leads_nowhere_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match="no such file or folder"):
        registry.locate(name)


def test_a_hub_id_is_left_to_the_hub() -> None:
    assert registry.locate("owner/model") == "owner/model"


def test_a_folder_with_a_configuration_is_itself(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert registry.locate(str(tmp_path)) == tmp_path


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="and no GGUF file in this folder"):
        registry.locate(str(tmp_path))


def test_a_folder_with_several_gguf_files_asks_for_one(tmp_path: Path) -> None:
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    with pytest.raises(ModelError, match="several GGUF files"):
        registry.locate(str(tmp_path))


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.bin"
    file.write_bytes(b"x")
    with pytest.raises(ModelError, match="not a GGUF file"):
        registry.locate(str(file))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>not found</html>", "not a GGUF file; download it again"),
        (b"", "not a GGUF file"),
        (b"GGUF" + b"\x03" * 400, "cannot be converted"),
    ],
)
def test_a_damaged_gguf_file_is_one_clear_error(
    tmp_path: Path, empty_caches: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    with pytest.raises(ModelError, match=message):
        registry.locate(str(file))
    left = [*(empty_caches / "models").iterdir()] if (empty_caches / "models").exists() else []
    assert left == []


def test_a_missing_gguf_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        registry.locate(str(tmp_path / "none.gguf"))


def test_a_cache_that_cannot_be_written_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", str(tmp_path / "file"))
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ModelError, match="cannot be stored"):
        registry.locate(str(model))


def test_another_file_of_the_same_name_is_another_model(tmp_path: Path, empty_caches: Path) -> None:
    prints = []
    for content in (b"GGUF one", b"GGUF two"):
        file = tmp_path / "model.gguf"
        file.write_bytes(content)
        prints.append(gguf._fingerprint(file))
    assert prints[0] != prints[1]


def test_a_conversion_that_another_process_finished_first_is_kept(empty_caches: Path) -> None:
    folder = finished(empty_caches, "model-1")
    workplace = finished(empty_caches, ".converting-1")
    (workplace / "extra").write_text("")
    gguf._publish(workplace, folder)
    assert not (folder / "extra").exists()


def test_finished_conversions_are_listed_and_found_by_name(empty_caches: Path) -> None:
    folder = finished(empty_caches, "model-1")
    finished(empty_caches, ".converting-xyz")
    listed = [entry for entry in registry.list_models() if entry.place == "cache"]
    assert [(entry.name, entry.path) for entry in listed] == [("model-1", folder)]
    assert registry.locate("model-1") == folder


def test_listing_models_imports_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from constrain.decoding.registry import list_models; list_models();"
        "sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_model_of_the_hub_is_refused_offline_with_the_reason() -> None:
    code = (
        "from constrain.decoding.model import ModelSpec, load_model\n"
        "from constrain.errors import ModelError\n"
        "try: load_model(ModelSpec('owner/no-such-model'))\n"
        "except ModelError as error: print(error)"
    )
    import os

    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "HF_HUB_OFFLINE forbids the hub" in ran.stdout
    assert ran.stderr == ""


def test_code_that_comes_with_a_model_is_not_run_unasked(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(
        '{"model_type": "mine", "auto_map": {"AutoConfig": "code.Config",'
        '"AutoModelForCausalLM": "code.Model", "AutoTokenizer": ["code.Tokenizer", null]}}'
    )
    (tmp_path / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(ModelError, match="--trust-remote-code"):
        load_model(ModelSpec(str(tmp_path)))
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_holds_no_readable_model_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{broken")
    with pytest.raises(ModelError, match="cannot be read"):
        load_model(ModelSpec(str(tmp_path)))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (ModelSpec(device="warp"), "device 'warp' cannot be used"),
        (ModelSpec(device="cuda:77"), "device 'cuda:77' cannot be used"),
        (ModelSpec(dtype="int3"), "dtype 'int3' is unknown"),
    ],
)
def test_a_device_or_dtype_that_cannot_be_used_is_refused(spec: ModelSpec, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load_model(spec)

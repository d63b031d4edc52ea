"""GGUF files: dequantise the weights once, keep them as safetensors in our cache.

Takes a `.gguf` file, gives a folder that transformers loads in seconds: config, weights, tokenizer,
chat template. The folder's name holds a fingerprint of the file, so another file of the same name
is another model. Many processes may convert at once: each writes into a folder of its own, and the
first to rename it wins. Runs no model, and imports the heavy libraries only to convert.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from constrain.decoding.quiet import quiet
from constrain.errors import ModelError
from constrain.paths import cache_dir

__all__ = ["conversion", "conversions", "converted"]

_FORMAT = 1  # raise it when a conversion would come out differently
_MAGIC = b"GGUF"
_SAMPLE = 1 << 20  # bytes hashed at the start (the metadata) and at the end of a file
_EXACT_BELOW = 1_000_000_000  # parameters; smaller models are kept in float32, bit by bit


def converted(file: Path) -> Path:
    """Return the folder with the weights of `file`, converting them when it is not there yet.

    Raises ModelError when the file is missing, no GGUF, damaged, or of an unknown architecture, and
    when the cache cannot be written.
    """
    fingerprint = _fingerprint(file)
    folder = cache_dir() / "models" / f"{file.stem}-{fingerprint}"
    if (folder / "config.json").is_file():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        workplace = Path(tempfile.mkdtemp(prefix=".converting-", dir=folder.parent))
    except OSError as cause:
        raise _cannot_write(folder.parent, cause) from cause
    try:
        _convert(file, workplace)
        _publish(workplace, folder)
    except OSError as cause:
        raise _cannot_write(folder.parent, cause) from cause
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    return folder


def conversions() -> list[Path]:
    """Return the folders of finished conversions, sorted by name."""
    found = (cache_dir() / "models").glob("*/config.json")
    return sorted(path.parent for path in found if not path.parent.name.startswith("."))


def conversion(name: str) -> Path | None:
    """Return the folder of the finished conversion that `conversions` lists under `name`."""
    return next((folder for folder in conversions() if folder.name == name), None)


def _fingerprint(file: Path) -> str:
    """Return a short hash of size, head and tail; checks that the file is a GGUF at all."""
    try:
        size = file.stat().st_size
        with file.open("rb") as handle:
            head = handle.read(_SAMPLE)
            handle.seek(max(0, size - _SAMPLE))
            tail = handle.read(_SAMPLE)
    except OSError as cause:
        raise ModelError(
            f"model {file}: cannot be read ({cause.strerror}); check the path and its permissions"
        ) from cause
    if not head.startswith(_MAGIC):
        raise ModelError(f"model {file}: not a GGUF file; download it again, or name another")
    digest = hashlib.sha256(f"{_FORMAT} {size} ".encode() + head + tail)
    return digest.hexdigest()[:16]


def _convert(file: Path, folder: Path) -> None:
    import torch  # noqa: PLC0415 - listing models must stay quick
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415

    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
            module = AutoModelForCausalLM.from_pretrained(
                file.parent, gguf_file=file.name, dtype=torch.float32, **_dequantised()
            )
            _forget_quantisation(module)
            kept = torch.float32 if module.num_parameters() < _EXACT_BELOW else torch.bfloat16
            module.to(kept).save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            _restore_pre_tokenizer(file, folder / "tokenizer.json")
    except OSError as cause:
        if cause.errno is not None:
            raise  # the disk's fault, not the file's
        raise _damaged(file, cause) from cause
    except Exception as cause:
        raise _damaged(file, cause) from cause


def _dequantised() -> dict[str, Any]:
    """Return the option that asks for dense weights, where transformers knows it."""
    try:
        from transformers import GgufConfig  # noqa: PLC0415 - not in every version
    except ImportError:
        return {}
    return {"quantization_config": GgufConfig(dequantize=True)}


def _forget_quantisation(module: Any) -> None:
    """Make dense weights savable: transformers refuses while they are marked as quantised."""
    module.hf_quantizer = None
    module.is_quantized = False
    if hasattr(module.config, "quantization_config"):
        del module.config.quantization_config


def _restore_pre_tokenizer(file: Path, path: Path) -> None:
    """Split digits one by one where the file says so; transformers drops this on conversion."""
    from gguf import GGUFReader  # noqa: PLC0415 - only when converting
    from tokenizers import Tokenizer  # noqa: PLC0415

    field = GGUFReader(file).fields.get("tokenizer.ggml.pre")
    if field is None or bytes(field.parts[field.data[0]]) != b"smollm":
        return
    described = json.loads(path.read_text(encoding="utf-8"))
    digits = {"type": "Digits", "individual_digits": True}
    steps = [digits, described["pre_tokenizer"]]
    described["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    Tokenizer.from_str(json.dumps(described)).save(str(path))


def _publish(workplace: Path, folder: Path) -> None:
    """Rename into place; when another process was first, its folder stays."""
    with suppress(OSError):
        workplace.rename(folder)
    if not (folder / "config.json").is_file():
        raise OSError(None, "the finished folder could not be moved into place")


def _damaged(file: Path, cause: Exception) -> ModelError:
    reason = (" ".join(str(cause).split()) or type(cause).__name__)[:200]
    return ModelError(
        f"model {file}: cannot be converted: {reason}; "
        "download it again, or use a model of an architecture that transformers reads from GGUF"
    )


def _cannot_write(folder: Path, cause: OSError) -> ModelError:
    return ModelError(
        f"{folder}: the converted model cannot be stored ({cause.strerror}); "
        "free some space, or set CONSTRAIN_CACHE_DIR to another folder"
    )

"""LanguageModel: a decoder-only model ready to run, and how to load one.

Takes a ModelSpec (a name, where to run, in what precision), gives the module, its tokenizer and the
vocabulary the engine needs. Where weights come from is `decoding.registry`'s business. Knows no
constraint and no decode loop.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from constrain.decoding import registry
from constrain.decoding.attention import AttentionStyle, attention_style
from constrain.decoding.quiet import quiet
from constrain.decoding.tokenizer import TextTokenizer
from constrain.errors import ConstrainError, ModelError, UnknownModel
from constrain.vocabulary import Vocabulary

__all__ = ["LanguageModel", "ModelSpec", "language_model", "load_model", "vocabulary_of"]

_DEFAULT_CONTEXT = 2048  # for a configuration that names no length


@dataclass(frozen=True)
class ModelSpec:
    """Which model, where it runs, in what precision.

    `name`: an alias, a hub id, a folder or a GGUF file. `device`: auto, cpu, cuda, cuda:1, mps.
    `dtype`: auto, float32, bfloat16, float16. `device_map`: None, or what accelerate takes (auto).
    """

    name: str = "smollm2-135m"
    device: str = "auto"
    dtype: str = "auto"
    device_map: str | None = None
    trust_remote_code: bool = False


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """A model in evaluation mode and all that running it needs.

    `module` is called with token ids (B, q), explicit positions and masks, and a cache that it
    takes as the argument `cache_argument`; `keeps_logits` when it can leave out logits nobody asks
    for. `vocabulary.size` is the width of its logits; `context_length` the tokens it can see.
    """

    name: str
    module: Any
    tokenizer: TextTokenizer
    vocabulary: Vocabulary
    device: torch.device
    dtype: torch.dtype
    context_length: int
    attention: AttentionStyle
    cache_argument: str = "past_key_values"
    keeps_logits: bool = True


def load_model(spec: ModelSpec) -> LanguageModel:
    """Load the model that `spec` names.

    Raises ModelError when it cannot be found, fetched, read or run, VocabularyError when its
    tokenizer's ids are no bytes.
    """
    device = _device(spec)
    dtype = _dtype(spec, device)
    source = registry.locate(spec.name)
    with quiet():
        config = _loaded(spec, source, AutoConfig)
        attention_style(config.get_text_config())  # refuse before gigabytes are read
        tokenizer = _loaded(spec, source, AutoTokenizer)
        module = _module(spec, source, dtype, device)
    return language_model(spec.name, module, TextTokenizer(tokenizer))


def language_model(name: str, module: Any, tokenizer: TextTokenizer) -> LanguageModel:
    """Wrap a loaded causal model of transformers.

    Raises ModelError when its attention cannot be driven by explicit masks.
    """
    config = module.config.get_text_config()
    vocabulary = _vocabulary(module, tokenizer)
    takes = inspect.signature(module.forward).parameters
    return LanguageModel(
        name=name,
        module=module.eval(),
        tokenizer=tokenizer,
        vocabulary=vocabulary,
        device=module.device,
        dtype=module.dtype,
        context_length=_context_length(config),
        attention=_attention(module, config),
        cache_argument="cache" if "cache" in takes else "past_key_values",
        keeps_logits="logits_to_keep" in takes,
    )


def vocabulary_of(module: Any, tokenizer: Any) -> Vocabulary:
    """Return what the engine needs to know of a causal model and its tokenizer.

    Both of transformers; or the tokenizer of a `LanguageModel`.

    Raises VocabularyError when the tokenizer's ids are no bytes.
    """
    text = tokenizer if isinstance(tokenizer, TextTokenizer) else TextTokenizer(tokenizer)
    return _vocabulary(module, text)


def _vocabulary(module: Any, tokenizer: TextTokenizer) -> Vocabulary:
    size = module.get_output_embeddings().weight.shape[0]
    return tokenizer.vocabulary(size=size, eos_ids=_end_ids(module))


def _loaded(spec: ModelSpec, source: str | Path, loader: Any, **options: Any) -> Any:
    """Call `from_pretrained`, and turn whatever goes wrong into one clear ModelError."""
    try:
        return loader.from_pretrained(source, trust_remote_code=spec.trust_remote_code, **options)
    except ConstrainError:
        raise
    except Exception as cause:
        raise registry.load_error(spec.name, source, cause) from cause


def _module(spec: ModelSpec, source: str | Path, dtype: torch.dtype, device: torch.device) -> Any:
    options: dict[str, Any] = {"dtype": dtype}
    if spec.device_map is not None:
        options["device_map"] = spec.device_map
    module = _loaded(spec, source, AutoModelForCausalLM, **options)
    if spec.device_map is not None:
        return module
    try:
        return module.to(device)
    except (RuntimeError, AssertionError) as cause:
        raise ModelError(
            f"model {spec.name!r} does not fit on {device}: {_first_line(cause)}; "
            "use a smaller model, --device cpu, or --device-map auto"
        ) from cause


def _device(spec: ModelSpec) -> torch.device:
    if spec.device != "auto":
        return _checked_device(spec.device)
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def _checked_device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as cause:
        raise UnknownModel(
            f"device {name!r} cannot be used: {_first_line(cause)}; use auto, cpu, cuda or mps"
        ) from cause
    return device


def _dtype(spec: ModelSpec, device: torch.device) -> torch.dtype:
    names = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
    if spec.dtype in names:
        return names[spec.dtype]
    if spec.dtype != "auto":
        raise UnknownModel(f"dtype {spec.dtype!r} is unknown; use auto, {', '.join(names)}")
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return torch.bfloat16 if device.type == "mps" else torch.float32


def _end_ids(module: Any) -> set[int]:
    """Return the union of what the configurations call an end token: none, one id or several."""
    configs = (module.generation_config, module.config, module.config.get_text_config())
    found: set[int] = set()
    for config in configs:
        ids = getattr(config, "eos_token_id", None)
        found |= set(ids if isinstance(ids, Iterable) else () if ids is None else (ids,))
    return found


def _context_length(config: Any) -> int:
    for name in ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length"):
        if isinstance(length := getattr(config, name, None), int):
            return length
    return _DEFAULT_CONTEXT


def _attention(module: Any, config: Any) -> AttentionStyle:
    style = attention_style(config, supports_sdpa=bool(getattr(module, "_supports_sdpa", True)))
    try:
        module.set_attn_implementation(style.implementation)
    except (ValueError, ImportError) as cause:
        raise ModelError(
            f"{config.model_type} does not run with {style.implementation} attention: "
            f"{_first_line(cause)}; use another model"
        ) from cause
    return style


def _first_line(cause: BaseException) -> str:
    return (str(cause).strip() or type(cause).__name__).splitlines()[0]

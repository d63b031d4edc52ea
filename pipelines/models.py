"""ModelConfig -> a loaded model. The one place where the pipelines begin to use torch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pipelines.config import ModelConfig
from pipelines.observer import Observer

if TYPE_CHECKING:
    from constrain.decoding.model import LanguageModel

__all__ = ["load"]


def load(config: ModelConfig, observer: Observer) -> LanguageModel:
    """Load the model; raise `ModelError` when it can't be found, read or run."""
    # Documents are tokenized between forward passes; threads of two libraries would only contend.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from constrain.decoding.model import ModelSpec, load_model  # noqa: PLC0415

    observer.stage(f"loading {config.name}")
    return load_model(
        ModelSpec(
            name=config.name,
            device=config.device,
            dtype=config.dtype,
            device_map=config.device_map,
            trust_remote_code=config.trust_remote_code,
        )
    )

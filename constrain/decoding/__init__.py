"""The only code that knows torch and transformers: tokenizers, models, the decode loop."""

from __future__ import annotations

__all__: list[str] = []

"""Tell running out of memory from other failures, and give memory back."""

from __future__ import annotations

import gc

import torch

__all__ = ["free", "is_out_of_memory"]


def is_out_of_memory(error: RuntimeError) -> bool:
    """Return whether a device, or the host, has run out of memory."""
    told = str(error).lower()
    return isinstance(error, torch.OutOfMemoryError) or (
        "out of memory" in told or "can't allocate memory" in told
    )


def free() -> None:
    """Give unused device memory back, so that a smaller batch finds it in one piece."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()

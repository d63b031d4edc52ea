"""How this project jits: numba without the GIL, compiled code kept with our other caches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from constrain.paths import cache_dir

__all__ = ["jit"]

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])

# Read by numba when a function is decorated; beside the sources is no place for a user's cache.
numba.config.CACHE_DIR = str(cache_dir() / "numba")


def jit(function: _Kernel) -> _Kernel:
    """Return `function`, compiled at its first call and kept on disk."""
    return cast("_Kernel", numba.njit(cache=True, nogil=True)(function))

"""How this project jits: numba without the GIL, compiled code kept with our other caches.

numba looks only at the file that defines a kernel to see whether its stored code is stale, not at
the kernels and constants it uses from elsewhere. So the folder of stored code is named by all of
our sources that hold either.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from constrain.paths import cache_dir

__all__ = ["inlined", "jit", "kernel"]

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])
_SOURCES = (
    "tables.py",
    "kernels.py",
    "mask_kernels.py",
    "written.py",
    "sibling_kernels.py",
    "automata/reach.py",
)


def jit(function: _Kernel) -> _Kernel:
    """Return `function`, compiled at its first call and kept on disk."""
    return cast("_Kernel", numba.njit(cache=True, nogil=True)(function))


def kernel(function: _Kernel) -> _Kernel:
    """Return `function`, jitted; it must not allocate, and only borrows arrays from its caller.

    So no references are counted. Counting them for a tuple of twenty arrays, at each call of a
    helper, costs more than the helpers do (measured: 70 times their work).
    """
    return cast("_Kernel", numba.njit(cache=True, nogil=True, _nrt=False)(function))


def inlined(function: _Kernel) -> _Kernel:
    """Return a kernel for short helpers: its code is copied to where it is called."""
    options = {"cache": True, "nogil": True, "forceinline": True, "_nrt": False}
    return cast("_Kernel", numba.njit(**options)(function))


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for name in _SOURCES:
        digest.update((Path(__file__).parent / name).read_bytes())
    return digest.hexdigest()[:16]


# Read by numba when a function is decorated; beside the sources is no place for a user's cache.
numba.config.CACHE_DIR = str(cache_dir() / "numba" / _fingerprint())

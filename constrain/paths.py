"""Where this project keeps its cache on disk. Takes the environment, gives one folder.

Creates nothing: whoever writes into the folder makes it.
"""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path

__all__ = ["cache_dir"]


def cache_dir() -> Path:
    """Return CONSTRAIN_CACHE_DIR, else XDG_CACHE_HOME/constrain, else the platform's own place."""
    if own := os.environ.get("CONSTRAIN_CACHE_DIR"):
        return Path(own)
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "constrain"
    return user_cache_path("constrain", appauthor=False)

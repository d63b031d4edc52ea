"""Keep the libraries below quiet while they load: their talk would garble our own progress.

Takes nothing, gives a context in which transformers, the hub client and Python warnings say nothing
on stderr and draw no bars. What was set before holds again afterwards.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr

__all__ = ["quiet"]

_LOGGERS = ("transformers", "huggingface_hub")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers, the hub client and warnings inside the block.

    Bars ask no common setting, so Python's stderr is put aside while the block runs.
    """
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)

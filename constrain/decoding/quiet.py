"""Keep the libraries below quiet while they load: their talk would garble our own progress.

Takes nothing, gives a context in which transformers, the hub client and Python warnings say nothing
on stderr and draw no bars. What they were set to before holds again afterwards.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr

from huggingface_hub.utils import (
    are_progress_bars_disabled,
    disable_progress_bars,
    enable_progress_bars,
)
from transformers.utils import logging

__all__ = ["quiet"]


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers, the hub client and warnings inside the block.

    Some of their bars ask no setting, so Python's stderr is put aside as well.
    """
    verbosity = logging.get_verbosity()
    bars, hub_bars = logging.is_progress_bar_enabled(), not are_progress_bars_disabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    disable_progress_bars()
    try:
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
        if hub_bars:
            enable_progress_bars()

"""extract: documents -> records that satisfy a constraint (being written)."""

from __future__ import annotations

from pipelines.config import ExtractConfig
from pipelines.observer import Observer
from pipelines.summary import RunSummary

__all__ = ["extract"]


def extract(config: ExtractConfig, observer: Observer) -> RunSummary:
    """Run the extraction `config` describes; one record a document, whatever fails."""
    raise NotImplementedError(config, observer)

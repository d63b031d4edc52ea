"""classify: documents -> one of a few labels, with a probability for each (being written)."""

from __future__ import annotations

from pipelines.config import ClassifyConfig
from pipelines.observer import Observer
from pipelines.summary import RunSummary

__all__ = ["classify"]


def classify(config: ClassifyConfig, observer: Observer) -> RunSummary:
    """Run the classification `config` describes; one record a document, whatever fails."""
    raise NotImplementedError(config, observer)

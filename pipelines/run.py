"""What every run does around its documents: look at inputs and output, warn, count, sum up.

Takes the input and output groups of a config; gives a `Run` that hands out numbered documents and
collects outcomes, and at the end a RunSummary. Knows no model and no constraint.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pipelines.collector import Collector
from pipelines.columns import Column
from pipelines.config import InputConfig, OutputConfig
from pipelines.documents import Document, Unread
from pipelines.errors import ConfigError, ReaderGoneError
from pipelines.observer import Observer
from pipelines.readers import read_documents, read_origins
from pipelines.sinks import open_sink
from pipelines.sinks.partial import check_output
from pipelines.sources import Sources, open_sources
from pipelines.stats import write_stats
from pipelines.summary import RunSummary
from pipelines.survey import survey
from pipelines.tally import FieldsTally

__all__ = ["Run", "open_run"]


@dataclass
class Run:
    """A run under way: its inputs are looked at, nothing is worked on yet.

    `total` documents will come. `stopped_early`: the reader of stdout has left.
    """

    inputs: InputConfig
    output: OutputConfig
    sources: Sources
    observer: Observer
    total: int
    started: float
    warnings: list[str] = field(default_factory=list)
    stopped_early: bool = False

    def documents(self) -> Iterator[Document | Unread]:
        """Start a pass over the documents."""
        return read_documents(self.sources.files, self.inputs)

    def warn(self, message: str) -> None:
        """Tell the observer, and keep it for the summary; the same sentence only once."""
        if message not in self.warnings:
            self.warnings.append(message)
            self.observer.warned(message)

    @contextmanager
    def collecting(self, value: Column, tally: FieldsTally) -> Iterator[Collector]:
        """Open the output for the block; a reader of stdout that leaves ends it quietly."""
        self.observer.stage("working")
        self.observer.started(self.total)
        try:
            with open_sink(self.output, value) as sink:
                yield Collector(sink, tally, self.observer)
        except ReaderGoneError:
            self.stopped_early = True

    def summary(
        self, collector: Collector, tally: FieldsTally, about: Mapping[str, Any]
    ) -> RunSummary:
        """Write the statistics beside an output file, and sum up."""
        if collector.truncated:
            self.warn(f"{collector.truncated} documents were too long and have been cut")
        if tally.fields_left_out:
            self.warn("the values have too many different fields; the statistics leave some out")
        fields = tally.finish()
        summary = RunSummary(
            documents=collector.statuses.total(),
            ok=collector.statuses["ok"],
            invalid=collector.statuses["invalid"],
            error=collector.statuses["error"],
            tokens=collector.tokens,
            prompt_tokens=collector.prompt_tokens,
            seconds=round(time.monotonic() - self.started, 3),
            fields=fields,
            warnings=tuple(self.warnings),
            stopped_early=self.stopped_early,
            output=self.output.path,
            first_errors=tuple(collector.first_errors),
        )
        return self._with_stats(summary, collector, about)

    def _with_stats(
        self, summary: RunSummary, collector: Collector, about: Mapping[str, Any]
    ) -> RunSummary:
        if self.output.path == "-":
            return summary
        counted = ("documents", "ok", "invalid", "error", "tokens", "prompt_tokens", "seconds")
        figures = {name: getattr(summary, name) for name in counted}
        figures |= {
            "truncated_inputs": collector.truncated,
            "errors_by_stage": dict(collector.stages),
            "invalid_by_keyword": dict(collector.keywords),
            "warnings": list(summary.warnings),
        }
        path = write_stats(Path(self.output.path), {**about, **figures}, summary.fields)
        return summary.with_stats(str(path))


@contextmanager
def open_run(inputs: InputConfig, output: OutputConfig, observer: Observer) -> Iterator[Run]:
    """Check output and inputs; raise the usage errors of both before any work."""
    started = time.monotonic()
    observer.stage("reading inputs")
    if output.path != "-":
        check_output(output)
    with open_sources(inputs) as sources:
        _refuse_own_input(output, sources)
        total = survey(partial(read_origins, sources.files, inputs))
        run = Run(inputs, output, sources, observer, total, started)
        for message in sources.warnings:
            run.warn(message)
        yield run


def _refuse_own_input(output: OutputConfig, sources: Sources) -> None:
    path = Path(output.path)
    if output.path == "-" or not path.exists():
        return
    for source in sources.files:
        if source.path.exists() and source.path.samefile(path):
            fact = "is also an input, and would be overwritten"
            raise ConfigError(fact, place=output.path, remedy="choose another output")

"""What can go wrong around the engine, as data with a written text: place, fact, remedy.

ConstrainError (constrain.errors)
└── PipelineError
    ├── ConfigError           an option or a combination of options that cannot be used (exit 2)
    ├── InputError            inputs that can't be read at all, found before any work (exit 2)
    ├── OutputExistsError     the output is there already and may not be replaced (exit 2)
    ├── OutputError           a record could not be written: full disk, no permission (exit 1)
    ├── DocumentError         one document failed; becomes an `error` record, the run goes on
    └── ReaderGoneError       whoever read our stdout has left; the run stops quietly
"""

from __future__ import annotations

from constrain.errors import ConstrainError

__all__ = [
    "ConfigError",
    "DocumentError",
    "InputError",
    "OutputError",
    "OutputExistsError",
    "PipelineError",
    "ReaderGoneError",
]


class PipelineError(ConstrainError):
    """Base of the errors of this package. Attributes: `place`, `fact`, `remedy`."""

    def __init__(self, fact: str, *, place: str = "", remedy: str = "") -> None:
        self.place = place
        self.fact = fact
        self.remedy = remedy
        head = f"{place}: {fact}" if place else fact
        super().__init__(f"{head}; {remedy}" if remedy else head)


class ConfigError(PipelineError):
    """An option, or a file an option names, that cannot be used."""


class InputError(PipelineError):
    """Inputs that cannot be read as asked; raised before any document is processed."""


class OutputExistsError(PipelineError):
    """The output file, or what an earlier run left of it, is there already."""


class OutputError(PipelineError):
    """Writing failed. What was written whole so far is kept, where the text says."""


class DocumentError(PipelineError):
    """One document failed. Attributes: `stage` ("read", "prompt", "generate", ...)."""

    def __init__(self, fact: str, *, stage: str, place: str = "", remedy: str = "") -> None:
        self.stage = stage
        super().__init__(fact, place=place, remedy=remedy)

    def at(self, place: str) -> DocumentError:
        """Return the same error at another place."""
        return DocumentError(self.fact, stage=self.stage, place=place, remedy=self.remedy)


class ReaderGoneError(PipelineError):
    """The reader of our output closed its end of the pipe."""

    def __init__(self) -> None:
        super().__init__("the reader of the output has gone")

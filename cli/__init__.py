"""The command line: parse, call one function of the pipelines, render. Knows no documents."""

__all__: list[str] = []

"""Whole jobs over the engine: documents in, records out. Prints nothing; knows no terminal."""

__all__: list[str] = []

"""Tests of pipelines.readers."""

__all__: list[str] = []

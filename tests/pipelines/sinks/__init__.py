"""Tests of pipelines.sinks."""

__all__: list[str] = []

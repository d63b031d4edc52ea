"""Tests of the pipelines, module by module; whole runs use the scripted model."""

__all__: list[str] = []

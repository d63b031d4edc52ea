"""Text to Expr: the intermediate representation and the front ends that write it."""

__all__: list[str] = []

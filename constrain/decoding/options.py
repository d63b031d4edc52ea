"""What goes into the decode loop and what comes out: frozen values, no behaviour but checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from constrain.errors import ModelError
from constrain.tables import CompiledConstraint

__all__ = ["DecodeOptions", "Generation", "Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """One text to generate. `key` names it, and seeds its sampling.

    `prompt_ids` is the whole prompt, the prefix it may share with other requests included.
    """

    key: int
    prompt_ids: tuple[int, ...]
    constraint: CompiledConstraint


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """How to decode. `temperature` 0 is greedy; `top_k` 0, `top_p` 1 and `min_p` 0 keep all tokens.

    Raises ModelError for values outside their range.
    """

    batch_size: int = 8
    max_new_tokens: int = 512
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what would not decode."""
        wrong = [
            ("batch_size", self.batch_size, "at least 1", self.batch_size < 1),
            ("max_new_tokens", self.max_new_tokens, "at least 1", self.max_new_tokens < 1),
            ("temperature", self.temperature, "0 or more", not 0 <= self.temperature < 1e6),
            ("top_k", self.top_k, "0 or more", self.top_k < 0),
            ("top_p", self.top_p, "over 0, at most 1", not 0 < self.top_p <= 1),
            ("min_p", self.min_p, "from 0, under 1", not 0 <= self.min_p < 1),
            ("seed", self.seed, "0 or more", self.seed < 0),
        ]
        for name, value, allowed, is_wrong in wrong:
            if is_wrong:
                raise ModelError(f"{name} = {value} cannot be used; it must be {allowed}")


@dataclass(frozen=True, slots=True)
class Generation:
    """One generated text.

    `token_ids` leaves the end token out; `logprobs` and `pressures` have one entry a token: the
    chosen token's log-probability (nats) under the masked, renormalised distribution at
    temperature 1, and the probability mass the constraint removed. `complete`: the text satisfies
    the constraint. `stop`: `end` the text ended, `length` it met `max_new_tokens`, `stuck` no token
    of this vocabulary continues it.
    """

    key: int
    token_ids: tuple[int, ...]
    text: str
    complete: bool
    stop: Literal["end", "length", "stuck"]
    logprobs: tuple[float, ...]
    pressures: tuple[float, ...]
    prompt_tokens: int

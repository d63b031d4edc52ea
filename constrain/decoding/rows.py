"""Row: one request under way. Waiting: the requests that have no slot yet.

Takes requests, gives rows in an order that keeps neighbours alike in length. A row holds all that
is needed to start it anew in another slot. Knows no tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from constrain import bitmask
from constrain.decoding.options import DecodeOptions, Generation, Request
from constrain.decoding.sampling import Pick
from constrain.errors import MatcherError, ModelError
from constrain.masks import MaskCache
from constrain.matcher import Matcher

if TYPE_CHECKING:
    from constrain.decoding.model import LanguageModel

__all__ = ["Row", "Waiting"]

_WINDOW = 8  # requests looked at together, in batches

_masks = lru_cache(maxsize=16)(MaskCache)


class Row:
    """One request under way.

    `cached` counts the tokens of prompt and text whose keys its slot holds; `stop` says why the row
    has ended, None while it runs.
    """

    def __init__(self, request: Request, options: DecodeOptions) -> None:
        self.request = request
        self._seed = [options.seed, request.key]
        self.cached = 0
        self.stop: Literal["end", "length", "stuck"] | None = None
        self._matcher = Matcher(request.constraint, _masks(request.constraint))
        self._limit = options.max_new_tokens
        self._tokens: list[int] = []
        self._picks: list[Pick] = []
        self._check_end()

    @property
    def room(self) -> int:
        """The columns the row needs at most."""
        return len(self.request.prompt_ids) + self._limit

    def pending(self) -> tuple[int, ...]:
        """Return the tokens that the slot does not hold yet; at least one."""
        prompt = self.request.prompt_ids
        if self.cached < len(prompt):
            return (*prompt[self.cached :], *self._tokens)
        return tuple(self._tokens[self.cached - len(prompt) :])

    def fill(self, mask: NDArray[np.int32], index: int) -> None:
        """Write what may follow into `mask[index]`.

        Where nothing may, the row is stuck; a token is allowed all the same, for the pass that is
        under way, and `accept` drops it.
        """
        self._matcher.fill_next_token_bitmask(mask, index)
        if not mask[index].any():
            self.stop = "stuck"
            mask[index, 0] = 1

    def uniform(self) -> float:
        """Return the number in [0, 1) that decides the next token: the same when asked again."""
        return float(np.random.default_rng([*self._seed, len(self._tokens)]).random())

    def accept(self, picked: Pick) -> None:
        """Take the next token; sets `stop` when it was the last."""
        if self.stop is not None:
            return
        if not self._matcher.accept_token(picked.token):
            raise MatcherError(f"token {picked.token} was picked although the mask forbids it")
        if self._matcher.is_terminated():
            self.stop = "end"
            return
        self._tokens.append(picked.token)
        self._picks.append(picked)
        self._check_end()
        if self.stop is None and len(self._tokens) >= self._limit:
            self.stop = "length"

    def generation(self, decode: Callable[[Iterable[int]], str]) -> Generation:
        """Return what the row has written."""
        return Generation(
            key=self.request.key,
            token_ids=tuple(self._tokens),
            text=decode(self._tokens),
            complete=self._matcher.is_accepting(),
            stop=self.stop or "length",
            logprobs=tuple(p.logprob for p in self._picks),
            pressures=tuple(p.pressure for p in self._picks),
            prompt_tokens=len(self.request.prompt_ids),
        )

    def _check_end(self) -> None:
        """End without a pass where nothing but an end token may follow."""
        if not self._matcher.is_accepting():
            return
        vocabulary = self.request.constraint.vocabulary
        mask = bitmask.allocate(1, vocabulary.size)
        self._matcher.fill_next_token_bitmask(mask, 0)
        if bitmask.count(mask[0]) == len(vocabulary.eos_ids):
            self.stop = "end"


class Waiting:
    """Requests that have no slot yet, read lazily, a window at a time, the longest first.

    Raises ModelError for a prompt that is empty, or that with the longest answer does not fit into
    the model's context; MatcherError for a constraint over another vocabulary.
    """

    def __init__(
        self, requests: Iterable[Request], options: DecodeOptions, model: LanguageModel
    ) -> None:
        self._requests = iter(requests)
        self._options = options
        self._model = model
        self._rows: list[Row] = []  # the next one last

    def __bool__(self) -> bool:
        """Return whether a row is left."""
        if not self._rows:
            self._read_window()
        return bool(self._rows)

    def take(self) -> Row | None:
        """Return the next row, None when there is none."""
        return self._rows.pop() if self else None

    def put_back(self, rows: Sequence[Row]) -> None:
        """Let rows that lost their slot go on before all others."""
        for row in rows:
            row.cached = 0
        self._rows += rows

    def room(self) -> int:
        """Return the columns that the longest of the waiting rows needs."""
        return max((row.room for row in self._rows), default=0)

    def _read_window(self) -> None:
        window = islice(self._requests, _WINDOW * self._options.batch_size)
        for request in window:
            self._check(request)
            self._rows.append(Row(request, self._options))
        self._rows.sort(key=lambda row: row.room)

    def _check(self, request: Request) -> None:
        prompt, answer = len(request.prompt_ids), self._options.max_new_tokens
        if not prompt:
            raise ModelError(
                f"request {request.key}: the prompt is empty; give it a token at least"
            )
        if prompt + answer > self._model.context_length:
            raise ModelError(
                f"request {request.key}: {prompt} prompt tokens and {answer} new ones do not fit "
                f"into the model's {self._model.context_length}; "
                "shorten the text, or lower max_new_tokens"
            )
        own, theirs = self._model.vocabulary, request.constraint.vocabulary
        if own is not theirs and own.fingerprint != theirs.fingerprint:
            raise MatcherError(
                f"request {request.key}: its constraint was compiled for another vocabulary; "
                f"compile it for that of {self._model.name}"
            )

"""ConstraintLogitsProcessor: a constraint inside `transformers.generate`.

    processor = ConstraintLogitsProcessor(compile_schema(schema, vocabulary_of(model, tokenizer)))
    model.generate(**inputs, logits_processor=[processor])

Takes the token ids of all rows and their scores at each step, gives the scores with everything
forbidden at minus infinity. A row is known by all its ids, so batches, several samples a prompt and
beam search, which copies and drops rows as it likes, need no bookkeeping. Knows no model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from constrain import bitmask
from constrain.decoding.sampling import expand
from constrain.errors import MatcherError
from constrain.masks import MaskCache
from constrain.matcher import Matcher
from constrain.tables import CompiledConstraint

__all__ = ["ConstraintLogitsProcessor"]


class ConstraintLogitsProcessor:
    """Allows only tokens that keep each row's text on the way to satisfy its constraint.

    `constraint`: one for all prompts, or one for each prompt of the batch, in their order; rows of
    one prompt (beams, samples) stand next to each other, as transformers puts them. What stands
    before the first step is the prompt. One processor serves one `generate` after another.
    """

    def __init__(self, constraint: CompiledConstraint | Sequence[CompiledConstraint]) -> None:
        if isinstance(constraint, CompiledConstraint):
            constraint = [constraint]
        self._constraints = tuple(constraint)
        if not self._constraints:
            raise MatcherError("a logits processor needs a constraint")
        self._masks = {c: MaskCache(c) for c in self._constraints}
        self._rows: dict[bytes, Matcher] = {}

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Return `scores` (rows, V) for `input_ids` (rows, length), what may not follow at -inf.

        Raises MatcherError for a token that an earlier step did not allow, and when the number of
        rows is no multiple of the number of constraints.
        """
        ids = input_ids.cpu().numpy()
        rows = self._followed(ids)
        size = max(c.vocabulary.size for c in self._constraints)
        mask = bitmask.allocate(len(rows), size)
        for i, matcher in enumerate(rows):
            if matcher.is_terminated():
                mask[i] = -1  # generate puts padding there, whatever is picked
            else:
                matcher.fill_next_token_bitmask(mask, i)
        allowed = expand(torch.from_numpy(mask).to(scores.device), scores.shape[1])
        return scores.masked_fill(~allowed, -torch.inf)

    def _followed(self, ids: NDArray[np.int64]) -> list[Matcher]:
        """Return the matcher of each row: moved on by its last token, or new at the beginning."""
        parents = [self._rows.get(row[:-1].tobytes()) for row in ids]
        if any(parent is None for parent in parents):
            rows = self._begun(len(ids))
        else:
            rows = [_moved(p, int(row[-1])) for p, row in zip(parents, ids, strict=True) if p]
        self._rows = {row.tobytes(): matcher for row, matcher in zip(ids, rows, strict=True)}
        return rows

    def _begun(self, rows: int) -> list[Matcher]:
        each, rest = divmod(rows, len(self._constraints))
        if rest:
            raise MatcherError(
                f"{rows} rows cannot be shared out among {len(self._constraints)} constraints; "
                "give one constraint, or one for each prompt"
            )
        return [Matcher(c, self._masks[c]) for c in self._constraints for _ in range(each)]


def _moved(parent: Matcher, token: int) -> Matcher:
    """Return a matcher after one more token; rows may share the parent. Nothing follows an end."""
    matcher = parent.fork()
    if not matcher.is_terminated() and not matcher.accept_token(token):
        raise MatcherError(f"token {token} was chosen although the mask forbids it")
    return matcher

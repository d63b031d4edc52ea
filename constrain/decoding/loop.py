"""The decode loop: constrained texts for many requests, a batch at a time.

Takes a model, requests and options, gives generations as they finish. Each round refills free
slots, runs one pass, fills the masks while it runs, picks one token a row and takes out the rows
that have ended. Running out of memory halves the batch and goes on. Knows no documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from constrain import bitmask
from constrain.decoding.memory import is_out_of_memory
from constrain.decoding.rows import Waiting
from constrain.decoding.sampling import pick
from constrain.decoding.slots import Slots

if TYPE_CHECKING:
    from constrain.decoding.model import LanguageModel
    from constrain.decoding.options import DecodeOptions, Generation, Request

__all__ = ["generate"]


def generate(
    model: LanguageModel,
    requests: Iterable[Request],
    options: DecodeOptions,
    *,
    shared_prefix: Sequence[int] = (),
) -> Iterator[Generation]:
    """Yield one Generation a request, in the order they finish.

    `requests` are read lazily, some batches ahead. `shared_prefix`: tokens that the prompts begin
    with; they are run once. A prompt that begins otherwise is fine, it only shares less.

    Raises ModelError for a prompt that does not fit, logits that are no numbers, and memory that
    does not suffice for one row; MatcherError when a constraint was compiled for another model.
    """
    waiting = Waiting(requests, options, model)
    slots = Slots(model, options.batch_size, shared_prefix)
    while True:
        if not _fits(slots, waiting, options):
            slots.halve(waiting)
        for row in slots.ended():
            yield row.generation(model.tokenizer.decode)
        if not slots.rows and not waiting:
            return


def _fits(slots: Slots, waiting: Waiting, options: DecodeOptions) -> bool:
    """Do one round; False, with no row harmed, when the memory does not suffice."""
    try:
        slots.refill(waiting)
        if slots.rows and all(row.stop is None for row in slots.rows):
            _step(slots, options)
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        return False
    return True


def _step(slots: Slots, options: DecodeOptions) -> None:
    """Run one pass and give every row its next token."""
    rows = slots.rows
    logits = slots.forward()
    mask = bitmask.allocate(len(rows), rows[0].request.constraint.vocabulary.size)
    for i, row in enumerate(rows):
        row.fill(mask, i)
    uniforms = [row.uniform() for row in rows] if options.temperature else ()
    picks = pick(logits, mask, uniforms, options)
    for row, picked in zip(rows, picks, strict=True):
        row.accept(picked)

"""Score whole labels after a prompt: the log-probability of each, all in one pass.

Takes prompts and the token ids of labels, gives one number a label. The labels' tokens form a trie
that hangs on the prompt's last token; each node sees the prompt and its own ancestors, so one pass
gives the probability of every branch. Knows no constraint and no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from constrain.decoding.cache import SlotCache
from constrain.decoding.memory import free, is_out_of_memory
from constrain.decoding.passes import RowTokens, Tree, forward
from constrain.decoding.prefill import SharedPrefix, alike, prefill
from constrain.errors import ModelError

if TYPE_CHECKING:
    from constrain.decoding.model import LanguageModel

__all__ = ["score_labels"]

_WINDOW = 8  # prompts looked at together, in batches
_TAIL = 256  # prompt tokens that may ride along with the labels
_LOGITS = 1 << 26  # logits of one pass at most: 256 MiB of float32

Scores = NDArray[np.float64]


@dataclass(eq=False)
class _Prompt:
    """A prompt under way; what it shows is what prefilling needs."""

    key: int
    ids: tuple[int, ...]
    cached: int = 0

    def pending(self) -> tuple[int, ...]:
        return self.ids[self.cached :]


@dataclass(frozen=True, eq=False)
class _LabelTrie:
    """Some labels as a trie of n nodes; label i is number `numbers[i]` of all.

    `tokens` (n,) are the nodes' tokens. An edge is a token after a node (0: the prompt, k: node
    k - 1): `edge_node` and `edge_token` (E,); `paths[i]` are the edges of label i.
    """

    numbers: tuple[int, ...]
    tokens: tuple[int, ...]
    tree: Tree
    edge_node: Tensor
    edge_token: Tensor
    paths: tuple[tuple[int, ...], ...]


def score_labels(
    model: LanguageModel,
    prompts: Iterable[tuple[int, tuple[int, ...]]],
    labels: Sequence[tuple[int, ...]],
    *,
    batch_size: int = 8,
    shared_prefix: Sequence[int] = (),
) -> Iterator[tuple[int, Scores]]:
    """Yield (key, scores) for each (key, prompt ids), scores (n_labels,) float64 in nats.

    A score is the sum of the log-probabilities of the label's tokens, over the whole vocabulary;
    end each label with a token of your choice when one label begins another. Prompts are read
    lazily and come back in the order they finish. `shared_prefix` as in `generate`.

    Raises ModelError for an empty label or prompt, for one that does not fit into the context, and
    for logits that are no numbers.
    """
    if not all(labels):
        raise ModelError("a label has no tokens; give every label some text")
    tries = _tries(labels, max(1, _LOGITS // model.vocabulary.size - 1))
    prefix = SharedPrefix(shared_prefix)
    source = iter(prompts)
    longest = max(map(len, labels), default=0)
    while window := [_checked(model, *p, longest) for p in islice(source, _WINDOW * batch_size)]:
        waiting = sorted(window, key=lambda prompt: len(prompt.ids))
        while waiting:
            batch = waiting[-batch_size:][::-1]
            found = _attempt(model, prefix, batch, tries, len(labels))
            if found is None:
                batch_size = _halved(model, batch_size, prefix, batch)
                continue
            del waiting[-len(batch) :]
            yield from zip((prompt.key for prompt in batch), found, strict=True)


def _attempt(
    model: LanguageModel,
    prefix: SharedPrefix,
    batch: Sequence[_Prompt],
    tries: Sequence[_LabelTrie],
    count: int,
) -> Scores | None:
    """Return the scores (B, count) of a batch, None when the memory does not suffice."""
    try:
        return _score(model, prefix, batch, tries, count)
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        return None


def _score(
    model: LanguageModel,
    prefix: SharedPrefix,
    batch: Sequence[_Prompt],
    tries: Sequence[_LabelTrie],
    count: int,
) -> Scores:
    nodes = max(len(trie.tokens) for trie in tries) if tries else 0
    room = max(len(prefix), *(len(prompt.ids) for prompt in batch)) + nodes
    cache = SlotCache(len(batch), room)
    rows = list(enumerate(batch))
    for slot, prompt in rows:
        prefix.apply(model, cache, slot, prompt)
    prefill(model, cache, rows, leave=_TAIL)
    scores = np.zeros((len(batch), count))
    for group in alike(rows):
        size = max(1, _LOGITS // ((nodes + 1) * model.vocabulary.size))
        for start in range(0, len(group), size):
            part = group[start : start + size]
            for trie in tries:
                at = np.ix_([slot for slot, _ in part], trie.numbers)
                scores[at] = _pass(model, cache, part, trie)
    return scores


@torch.inference_mode()
def _pass(
    model: LanguageModel, cache: SlotCache, rows: Sequence[tuple[int, _Prompt]], trie: _LabelTrie
) -> Scores:
    """Run what is left of the prompts, and the trie behind them; return (rows, labels of trie)."""
    brought = [RowTokens(slot, p.cached, (*p.pending(), *trie.tokens)) for slot, p in rows]
    logits = forward(model, cache, brought, keep=1 + len(trie.tokens), tree=trie.tree)
    nodes, tokens = trie.edge_node.to(logits.device), trie.edge_token.to(logits.device)
    edges = logits[:, nodes, tokens] - logits.logsumexp(-1)[:, nodes]
    for _, prompt in rows:
        prompt.cached = len(prompt.ids) - 1  # the next trie hangs on the last token again
    found = edges.double().cpu().numpy()
    if np.isnan(found).any():
        raise ModelError("the model returned logits that are no numbers (NaN); try --dtype float32")
    return np.stack([found[:, path].sum(1) for path in trie.paths], axis=1)


def _tries(labels: Sequence[tuple[int, ...]], most_nodes: int) -> list[_LabelTrie]:
    """Build tries of at most `most_nodes` nodes each, a single label always fitting into one."""
    tries: list[_LabelTrie] = []
    chosen: list[int] = []
    nodes: set[tuple[int, ...]] = set()
    for number in sorted(range(len(labels)), key=lambda i: labels[i]):
        own = {labels[number][:k] for k in range(1, len(labels[number]))}
        if chosen and len(nodes | own) > most_nodes:
            tries.append(_trie(labels, chosen))
            chosen, nodes = [], set()
        chosen.append(number)
        nodes |= own
    return [*tries, _trie(labels, chosen)] if chosen else tries


def _trie(labels: Sequence[tuple[int, ...]], numbers: Sequence[int]) -> _LabelTrie:
    prefixes = {labels[i][:k] for i in numbers for k in range(1, len(labels[i]))}
    order = sorted(prefixes)  # a node comes after its ancestors
    node_of = {prefix: n + 1 for n, prefix in enumerate(order)} | {(): 0}
    edges: dict[tuple[int, int], int] = {}
    paths = []
    for label in (labels[i] for i in numbers):
        steps = [(node_of[label[:k]], label[k]) for k in range(len(label))]
        paths.append(tuple(edges.setdefault(step, len(edges)) for step in steps))
    ancestors = torch.zeros((len(order), len(order)), dtype=torch.bool)
    for n, prefix in enumerate(order):
        ancestors[n, [node_of[prefix[:k]] - 1 for k in range(1, len(prefix) + 1)]] = True
    depth = torch.tensor([len(prefix) for prefix in order], dtype=torch.int64)
    nodes, tokens = zip(*edges, strict=True)
    return _LabelTrie(
        numbers=tuple(numbers),
        tokens=tuple(prefix[-1] for prefix in order),
        tree=Tree(depth, ancestors),
        edge_node=torch.tensor(nodes),
        edge_token=torch.tensor(tokens),
        paths=tuple(paths),
    )


def _checked(model: LanguageModel, key: int, ids: tuple[int, ...], longest: int) -> _Prompt:
    if not ids:
        raise ModelError(f"prompt {key} is empty; give it a token at least")
    if len(ids) + longest > model.context_length:
        raise ModelError(
            f"prompt {key}: {len(ids)} tokens and a label of {longest} do not fit into the model's "
            f"{model.context_length}; shorten the text"
        )
    return _Prompt(key, ids)


def _halved(
    model: LanguageModel, batch_size: int, prefix: SharedPrefix, batch: Sequence[_Prompt]
) -> int:
    """Free all memory and return a smaller batch size for another try."""
    if batch_size == 1:
        raise ModelError(
            f"{model.device} has too little memory for one document; "
            "cut the documents, or use a smaller model"
        )
    for prompt in batch:
        prompt.cached = 0
    prefix.forget()
    free()
    return batch_size // 2

"""CompiledConstraint: the frozen tables of one constraint over one vocabulary.

The automaton is a nondeterministic byte automaton with calls, in flat arrays that jitted kernels
read. Nothing here is computed and nothing changes: building is in `automata` and `compiler`,
matching in `configurations`, `masks` and `matcher`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from constrain.vocabulary import Vocabulary

__all__ = [
    "COST",
    "FIRST",
    "HIGH",
    "LAST",
    "LEAST",
    "LOW",
    "NO_LOOP",
    "SCARCE",
    "SHORTEST",
    "UNBOUNDED",
    "Automaton",
    "CompiledConstraint",
    "Note",
]

NO_LOOP = -2
"""HIGH of a state that is no loop head."""
UNBOUNDED = -1
"""HIGH and LAST of a loop without a maximum."""

LEAST = 0
"""Column of `loops`: the count from which the loop may return (where `is_return` is set)."""
LOW = 1
"""Column of `loops`: the least count with which this head can still end well."""
HIGH = 2
"""Column of `loops`: the greatest such count."""
FIRST = 3
"""Column of `loops`: the least positive LOW, or LEAST, of all heads of the loop."""
LAST = 4
"""Column of `loops`: the least HIGH of all heads of the loop."""
SHORTEST = 5
"""Column of `loops`: the fewest calls from this head to the end, whatever the count."""
COST = 6
"""Column of `loops`: bytes that one call may need; 0: the distance of the one callee."""


SCARCE = 3
"""`edge_guarded` of an edge in a container that a text may leave no way on in (see Distinct)."""


class Automaton(NamedTuple):
    """A byte automaton with calls. S states, E byte edges, P epsilon edges, C calls, K classes.

    Rows of a state s are `x[x_start[s]:x_start[s + 1]]`. A call at s enters the state
    `call_entry` and, when that rule returns, goes on at `call_return`. A state with
    `is_return` set may return to its caller, or end the text when there is none.

    A loop head (its column HIGH is not NO_LOOP) has no byte edges. Its configurations carry a
    count of the calls that have returned; a call is made only if the count after it, one more, lies
    between LOW and HIGH of the head it returns to, and the loop may return once the count is at
    least LEAST.

    A guarded edge may be taken only where the JSON item or key it ends differs from its earlier
    siblings. Who reads the text knows whether they differ (`constrain.siblings`); where not, the
    byte is read as one of `repeat_class` instead of `byte_class`, and no guarded edge goes on that.
    """

    edge_start: NDArray[np.int32]  # (S + 1,)
    edge_low: NDArray[np.uint8]  # (E,) lowest byte of the edge
    edge_high: NDArray[np.uint8]  # (E,) highest byte, inclusive
    edge_target: NDArray[np.int32]  # (E,)
    edge_guarded: NDArray[
        np.uint8
    ]  # (E,) not 0: not taken when the byte ends a repetition; 3: SCARCE
    epsilon_start: NDArray[np.int32]  # (S + 1,)
    epsilon_target: NDArray[np.int32]  # (P,)
    call_start: NDArray[np.int32]  # (S + 1,)
    call_entry: NDArray[np.int32]  # (C,)
    call_return: NDArray[np.int32]  # (C,)
    is_return: NDArray[np.bool_]  # (S,)
    loops: NDArray[np.int64]  # (S, 7) columns LEAST to COST, below
    distance: NDArray[np.int64]  # (S,) fewest bytes from the state to a return of its rule
    byte_class: NDArray[np.uint8]  # (256,) bytes no edge tells apart share a class
    class_byte: NDArray[np.int16]  # (K,) one byte of each class; 256 more: after a repetition
    repeat_class: NDArray[np.int16]  # (256,) the class of a byte that ends a repetition
    start: NDArray[np.int32]  # (1,) where the text begins


@dataclass(frozen=True, slots=True)
class Note:
    """What the mask does not enforce: `keyword` at JSON Pointer `pointer`, and the `answer`."""

    pointer: str
    keyword: str
    answer: str
    text: str


@dataclass(frozen=True, eq=False)
class CompiledConstraint:
    """Everything a Matcher needs. `key` is a content hash of constraint, options and vocabulary."""

    automaton: Automaton
    vocabulary: Vocabulary
    key: str
    notes: tuple[Note, ...] = ()

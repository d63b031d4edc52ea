"""Jitted kernels that write a JSON text down in canonical form, to tell equal siblings.

Arrays in, arrays out, over the nodes of `kernels`. A container that opened on a guarded edge is
*watched*: from its bracket on, the text is written down in canonical form (no blanks, numbers in
one spelling, the members of finished objects sorted), so that equal values have equal texts. An
item or key that ends equal to an earlier sibling is read as a repetition: guarded edges are closed
to it. Outside of watched arrays only keys are compared, so only keys are written down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from constrain.jit import jit
from constrain.kernels import DEAD, Configurations, step
from constrain.tables import Automaton

__all__ = [
    "ARRAY",
    "ARRAYS",
    "BETWEEN",
    "COLUMNS",
    "DEPTH",
    "KEY",
    "LENGTH",
    "MODE",
    "NO_NUMBER",
    "NUMBER",
    "PLAIN_DIGITS",
    "STARTS",
    "STRING",
    "UNGUARDED",
    "VALUE",
    "Scratch",
    "Written",
    "begins",
    "finish_number",
    "is_blank",
    "restore",
    "take",
]

LENGTH, STARTS, DEPTH, MODE, NUMBER, ARRAYS = 0, 1, 2, 3, 4, 5
"""Entries of `Written.at`: how much of each array is in use, and where the text stands."""
COLUMNS = 6
NO_NUMBER = -1
"""NUMBER while no number is under way; otherwise where it begins in the text."""

BETWEEN, STRING, _ESCAPE = 0, 1, 2
ARRAY, KEY, VALUE, UNGUARDED = 0, 1, 2, 3
"""What an open container has on its way: an item, a key, a member's value; or it has no guard."""
PLAIN_DIGITS = 25
"""A number whose decimal writing is longer is written down with a power of ten."""


class Written(NamedTuple):
    """The canonical text of the outermost watched container, as far as it is read."""

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]  # where the items of each open container begin, outer ones first
    opens: NDArray[np.int64]  # (depth, 2) kind, index of the first of its items in `starts`
    at: NDArray[np.int64]  # (COLUMNS,)


class Scratch(NamedTuple):
    """Room for one computation: a text under way, and spare arrays."""

    now: Written
    spare: NDArray[np.uint8]  # (text,)
    following: NDArray[np.bool_]  # (256,) bytes that keep a text at risk
    path: NDArray[np.uint8]  # (P,) bytes after the saved text
    tried: NDArray[np.int64]  # (P + 1,) the next byte to descend into
    spelled: NDArray[np.uint8]  # (P,) the bytes of a trie node


@jit
def restore(saved: Written, now: Written) -> None:
    """Copy a saved text into the one under way."""
    n, m, d = saved.at[LENGTH], saved.at[STARTS], saved.at[DEPTH]
    now.text[:n] = saved.text[:n]
    now.starts[:m] = saved.starts[:m]
    now.opens[:d] = saved.opens[:d]
    now.at[:] = saved.at


# ---------------------------------------------------------------- writing down


@jit
def is_blank(byte: int) -> bool:
    """Return whether a byte between JSON tokens has no meaning."""
    return byte in (0x20, 0x0A, 0x0D, 0x09)


@jit
def take(a: Automaton, c: Configurations, s: Scratch, node: int, byte: int) -> int:
    """Return the node after `byte`, DEAD or a code < DEAD; `s.now` is written on."""
    w = s.now
    if w.at[DEPTH] == 0:
        return _take_opening(a, c, w, node, byte)
    if w.at[MODE] != BETWEEN:
        if _is_recorded(w):
            _put(w, byte)
        if w.at[MODE] == _ESCAPE:
            w.at[MODE] = STRING
        elif byte == 0x5C:
            w.at[MODE] = _ESCAPE
        elif byte == 0x22:
            w.at[MODE] = BETWEEN
            top = w.at[DEPTH] - 1
            if w.opens[top, 0] == KEY and _key_repeats(w, top):
                return step(a, c, node, a.repeat_class[byte])
        return step(a, c, node, a.byte_class[byte])
    if is_blank(byte):
        return step(a, c, node, a.byte_class[byte])
    if byte in (0x2C, 0x3A, 0x5D, 0x7D):
        return _take_end(a, c, s, node, byte)
    if byte == 0x22:
        w.at[MODE] = STRING
    if _is_recorded(w):
        if w.at[NUMBER] == NO_NUMBER and (byte == 0x2D or 0x30 <= byte <= 0x39):
            w.at[NUMBER] = w.at[LENGTH]
        _put(w, byte)
    if byte not in (0x5B, 0x7B):
        return step(a, c, node, a.byte_class[byte])
    return _take_opening(a, c, w, node, byte)


@jit
def _is_recorded(w: Written) -> bool:
    """Return whether what comes is compared: it is in a watched array, or a watched key."""
    return w.at[ARRAYS] > 0 or w.opens[w.at[DEPTH] - 1, 0] == KEY


@jit
def _take_opening(a: Automaton, c: Configurations, w: Written, node: int, byte: int) -> int:
    """Take a byte that opens a container or, outside of watched ones, any byte."""
    target = step(a, c, node, a.byte_class[byte])
    if target < 0 or byte not in (0x5B, 0x7B):
        return target
    unguarded = target
    if a.repeat_class[byte] != a.byte_class[byte]:
        unguarded = step(a, c, node, a.repeat_class[byte])
        if unguarded < DEAD:
            return unguarded
    if unguarded != target:
        _open(w, ARRAY if byte == 0x5B else KEY)
    elif w.at[DEPTH] > 0:
        _open(w, UNGUARDED)
    return target


@jit
def _take_end(a: Automaton, c: Configurations, s: Scratch, node: int, byte: int) -> int:
    """Take a byte that ends an item or a key: a comma, a colon or a closing bracket."""
    w = s.now
    finish_number(s)
    top = w.at[DEPTH] - 1
    kind = w.opens[top, 0]
    repeats = kind == ARRAY and byte != 0x3A and _item_repeats(w, top)
    target = step(a, c, node, a.repeat_class[byte] if repeats else a.byte_class[byte])
    if target < 0:
        return target
    if byte in (0x5D, 0x7D):
        _close(s, top, byte)
        return target
    _put(w, byte)
    if byte == 0x3A:
        if kind == KEY:
            w.opens[top, 0] = VALUE
    else:
        if kind == VALUE:
            w.opens[top, 0] = KEY
        w.starts[w.at[STARTS]] = w.at[LENGTH]
        w.at[STARTS] += 1
    return target


@jit
def _put(w: Written, byte: int) -> None:
    w.text[w.at[LENGTH]] = byte
    w.at[LENGTH] += 1


@jit
def _open(w: Written, kind: int) -> None:
    """Begin a container, and its first item."""
    depth = w.at[DEPTH]
    w.opens[depth, 0] = kind
    w.opens[depth, 1] = w.at[STARTS]
    w.at[DEPTH] = depth + 1
    w.at[ARRAYS] += kind == ARRAY
    w.starts[w.at[STARTS]] = w.at[LENGTH]
    w.at[STARTS] += 1


@jit
def _close(s: Scratch, top: int, byte: int) -> None:
    """End the container on top; the members of an object are put in order."""
    w = s.now
    first = w.opens[top, 1]
    if byte == 0x7D and w.at[STARTS] - first > 1 and w.at[ARRAYS] > 0:
        _sort_members(s, first)
    w.at[ARRAYS] -= w.opens[top, 0] == ARRAY
    if w.at[ARRAYS] == 0:
        w.at[LENGTH] = w.starts[first]  # nobody asks any more what was in it
    else:
        _put(w, byte)
    w.at[STARTS] = first
    w.at[DEPTH] = top


@jit
def _sort_members(s: Scratch, first: int) -> None:
    """Write the members that begin at `starts[first:]` in the order of their bytes."""
    w = s.now
    last, n = w.at[STARTS], w.at[LENGTH]
    begin = w.starts[first]
    s.spare[begin:n] = w.text[begin:n]
    ends = w.starts[first + 1 : last] - 1
    put = begin
    for _ in range(first, last):
        least = -1
        for i in range(first, last):
            if w.starts[i] < 0:
                continue
            if least < 0 or _is_less(s.spare, w.starts, ends, n, i - first, least - first, first):
                least = i
        start = w.starts[least]
        end = ends[least - first] if least < last - 1 else n
        if put > begin:
            w.text[put] = 0x2C
            put += 1
        for i in range(start, end):
            w.text[put] = s.spare[i]
            put += 1
        w.starts[least] = -1


@jit
def _is_less(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    n: int,
    i: int,
    j: int,
    first: int,
) -> bool:
    """Return whether member `i` comes before member `j`; members `first + i` of `starts`."""
    a, b = starts[first + i], starts[first + j]
    a_end = ends[i] if i < ends.shape[0] else n
    b_end = ends[j] if j < ends.shape[0] else n
    while a < a_end and b < b_end:
        if text[a] != text[b]:
            return text[a] < text[b]
        a += 1
        b += 1
    return a_end - a < b_end - b


@jit
def finish_number(s: Scratch) -> None:
    """Put the number that ends the text into its one canonical spelling."""
    w = s.now
    start = w.at[NUMBER]
    if start == NO_NUMBER:
        return
    end = w.at[LENGTH]
    w.at[NUMBER] = NO_NUMBER
    i = start
    negative = w.text[i] == 0x2D
    if negative:
        i += 1
    digits, point, seen_point = 0, 0, 0
    while i < end and w.text[i] not in (0x65, 0x45):
        if w.text[i] == 0x2E:
            seen_point = 1
        elif digits > 0 or w.text[i] != 0x30:
            s.spare[digits] = w.text[i]
            digits += 1
            point += 1 - seen_point
        else:
            point -= seen_point
        i += 1
    point += _power(w, i, end)
    while digits > 0 and s.spare[digits - 1] == 0x30:
        digits -= 1
    w.at[LENGTH] = start
    if digits == 0:
        _put(w, 0x30)
        return
    if negative:
        _put(w, 0x2D)
    _put_decimal(w, s.spare, digits, point)


@jit
def _power(w: Written, i: int, end: int) -> int:
    """Return the power of ten in `text[i:end]`: `e`, a sign, digits, or the first of these."""
    power, negative = 0, False
    for j in range(i + 1, end):
        if w.text[j] == 0x2D:
            negative = True
        elif w.text[j] != 0x2B:
            power = min(power * 10 + w.text[j] - 0x30, 1 << 40)
    return -power if negative else power


@jit
def _put_decimal(w: Written, digits: NDArray[np.uint8], count: int, point: int) -> None:
    """Write 0.d1 d2 d3 ... times ten to the power of `point`."""
    if -PLAIN_DIGITS < point <= 0:
        _put(w, 0x30)
        _put(w, 0x2E)
        for _ in range(-point):
            _put(w, 0x30)
        for i in range(count):
            _put(w, digits[i])
        return
    if 0 < point <= max(PLAIN_DIGITS, count):
        for i in range(max(count, point)):
            if i == point:
                _put(w, 0x2E)
            _put(w, digits[i] if i < count else 0x30)
        return
    for i in range(count):
        _put(w, digits[i])
    _put(w, 0x65)
    if point < 0:
        _put(w, 0x2D)
    rest = abs(point)
    scale = 1
    while scale * 10 <= rest:
        scale *= 10
    while scale > 0:
        _put(w, 0x30 + rest // scale % 10)
        scale //= 10


# ---------------------------------------------------------------- repetitions


@jit
def _item_repeats(w: Written, top: int) -> bool:
    """Return whether the item that ends the text equals an earlier one of its array."""
    last = w.at[STARTS] - 1
    start, n = w.starts[last], w.at[LENGTH]
    for i in range(w.opens[top, 1], last):
        if w.starts[i + 1] - 1 - w.starts[i] == n - start and begins(w, w.starts[i], start, n):
            return True
    return False


@jit
def _key_repeats(w: Written, top: int) -> bool:
    """Return whether the key that ends the text is an earlier one of its object."""
    last = w.at[STARTS] - 1
    start, n = w.starts[last], w.at[LENGTH]
    for i in range(w.opens[top, 1], last):
        if begins(w, w.starts[i], start, n) and w.text[w.starts[i] + n - start] == 0x3A:
            return True
    return False


@jit
def begins(w: Written, at: int, start: int, n: int) -> bool:
    """Return whether the text at `at` begins with `text[start:n]`."""
    for i in range(n - start):  # noqa: SIM110 (numba compiles no generator of a closure)
        if w.text[at + i] != w.text[start + i]:
            return False
    return True

"""Integer arithmetic: additions with carries, products, address scaling, comparisons' operands.

Semantics from ``docs/sass.md``: carries are those of a 64-bit sum in which a negated source is its complement plus
one, so that minus zero carries.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpfile.compiler.model import TRUE_PREDICATE, Predicate
from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.lanes import lanes_of, mask_of
from warpfile.emulator.source import Bits, Fetch
from warpfile.emulator.warp import Run, Warp

U64 = np.uint64
_ONE = U64(1)
_WORD = U64(32)


def _carry_term(decoder: Decoder, position: int, invert: bool) -> Fetch:
    """Source as ``uint64`` whose bit 32 is the carry that its two's complement makes."""
    raw = decoder.raw(position)
    operand = decoder.operand(position)
    if getattr(operand, "invert", False) or (invert and getattr(operand, "negate", False)):
        return lambda warp: (~raw(warp)).astype(U64)
    if getattr(operand, "negate", False):
        return lambda warp: (~raw(warp)).astype(U64) + _ONE
    return lambda warp: raw(warp).astype(U64)


def _with_carries(decoder: Decoder, total: Fetch) -> Run:
    """Low word of a 64-bit sum to the destination, its carries to the predicates."""
    write = decoder.writer()
    first, second = decoder.predicate_writer(0), decoder.predicate_writer(1)

    def run(warp: Warp, mask: int) -> None:
        value = total(warp)
        if write is not None:
            write(warp, mask, value.astype(np.uint32))
        carries = value >> _WORD
        if first is not None:
            first(warp, mask, mask_of(carries != 0))
        if second is not None:
            second(warp, mask, mask_of(carries > 1))

    return run


def carry_in(bits: Bits, width: int) -> Fetch:
    """Predicate source as an array of truth values."""
    return lambda warp: lanes_of(bits(warp))[:width]


@opcode("IADD", "64")
def iadd(decoder: Decoder) -> Run:
    """d = a + b; .64 on pairs."""
    if not decoder.has("64"):
        first, second = decoder.source(0), decoder.source(1)
        return decoder.result(lambda warp: first(warp) + second(warp))
    a, b = decoder.pair(0), decoder.pair(1)
    return decoder.result64(lambda warp: a(warp) + b(warp))


@opcode("IADD3 UIADD3", "X 64")
def iadd3(decoder: Decoder) -> Run:
    """IADD3[.X] d, [p0, [p1,]] a, b, c [, carry-in, carry-in]; .64 on pairs."""
    extended = decoder.has("X")
    if decoder.has("64"):
        if extended:
            raise ValueError("IADD3.64 must have no .X")
        x, y, z = (decoder.pair(position) for position in range(3))
        return decoder.result64(lambda warp: x(warp) + y(warp) + z(warp))
    carries = [decoder.predicate(p) for p in range(3, len(decoder.sources))] if extended else []
    if not decoder.predicate_dests and not extended:
        a, b, c = (decoder.source(position) for position in range(3))
        return decoder.result(lambda warp: a(warp) + b(warp) + c(warp))
    terms = [_carry_term(decoder, position, extended) for position in range(3)]
    terms += [carry_in(bits, decoder.width) for bits in carries]

    def total(warp: Warp) -> np.ndarray:
        value = terms[0](warp) + terms[1](warp)
        for term in terms[2:]:
            value = value + term(warp)
        return value

    return _with_carries(decoder, total)


@opcode("IMAD UIMAD", "MOV U32 IADD SHL X WIDE HI S32")
def imad(decoder: Decoder) -> Run:
    """The IMAD family; MOV, IADD and SHL are spellings of the same multiply-add."""
    if decoder.has("WIDE", "HI"):
        return _imad_wide(decoder)
    a, b, c = (decoder.source(position) for position in range(3))
    first, second = decoder.sources[:2]
    if getattr(first, "is_zero", False) or getattr(second, "is_zero", False):
        product: Fetch | None = None
    elif decoder.literal(1) == 1:
        product = a
    else:
        product = _product(a, b)
    if decoder.has("X"):
        extra = carry_in(decoder.predicate(3), decoder.width)
        if product is None:
            return decoder.result(lambda warp: c(warp) + extra(warp))
        known: Fetch = product
        return decoder.result(lambda warp: known(warp) + c(warp) + extra(warp))
    if product is None:
        return decoder.result(c)
    factor: Fetch = product
    return decoder.result(lambda warp: factor(warp) + c(warp))


def _product(a: Fetch, b: Fetch) -> Fetch:
    return lambda warp: a(warp) * b(warp)


def _imad_wide(decoder: Decoder) -> Run:
    """WIDE: pair = a * b + pair. HI: upper word of the same sum; its c is a pair too."""
    a, b, c = decoder.source(0), decoder.source(1), decoder.pair(2)
    extend = _zero_extended if decoder.has("U32") else _sign_extended
    extra = carry_in(decoder.predicate(3), decoder.width) if decoder.has("X") else None
    carry_out = decoder.predicate_writer(0)

    def total(warp: Warp) -> np.ndarray:
        value = extend(a(warp)) * extend(b(warp)) + c(warp)
        return value if extra is None else value + extra(warp)

    if decoder.has("HI"):
        store = decoder.result(lambda warp: (total(warp) >> _WORD).astype(np.uint32))
    else:
        store = decoder.result64(total)
    if carry_out is None:
        return store

    def run(warp: Warp, mask: int) -> None:
        product = extend(a(warp)) * extend(b(warp))
        value, addend = total(warp), c(warp)
        wraps = (product + addend < product) | (value < product + addend)
        bits = mask_of(wraps)
        store(warp, mask)
        carry_out(warp, mask, bits)

    return run


def _zero_extended(words: np.ndarray) -> np.ndarray:
    return words.astype(U64)


def _sign_extended(words: np.ndarray) -> np.ndarray:
    return words.view(np.int32).astype(np.int64).view(U64)


@opcode("LEA ULEA", "HI X SX32")
def lea(decoder: Decoder) -> Run:
    """LEA d, [p,] a, b, sh; .HI shifts {ah:a} (or sign-extended a) by 32 - sh instead."""
    signed, high, extended = decoder.has("SX32"), decoder.has("HI"), decoder.has("X")
    shift_at = 2 if signed or not high else 3
    amount = decoder.literal(shift_at)
    if amount is None:
        raise ValueError("shift of LEA must be a literal")
    amount &= 31
    shifted = _lea_shifted(decoder, amount, high, signed)
    negated = getattr(decoder.operand(0), "negate", False)
    inverted = getattr(decoder.operand(0), "invert", False)
    addend = _carry_term(decoder, 1, extended)
    extra = carry_in(decoder.predicate(shift_at + 1), decoder.width) if extended else None

    def total(warp: Warp) -> np.ndarray:
        value = shifted(warp)
        if negated and not extended:
            value = (~value).astype(U64) + _ONE
        else:
            value = (~value if negated or inverted else value).astype(U64)
        value = value + addend(warp)
        return value if extra is None else value + extra(warp)

    return _with_carries(decoder, total)


def _lea_shifted(decoder: Decoder, amount: int, high: bool, signed: bool) -> Fetch:
    low = decoder.raw(0)
    if not high:
        return lambda warp: low(warp) << np.uint32(amount)
    right = U64(32 - amount)
    if signed:
        wide = np.int64(32 - amount)
        return lambda warp: (low(warp).view(np.int32).astype(np.int64) >> wide).astype(np.uint32)
    upper = decoder.raw(2)
    return lambda warp: ((upper(warp).astype(U64) << _WORD | low(warp)) >> right).astype(np.uint32)


@opcode("IABS")
def iabs(decoder: Decoder) -> Run:
    """Magnitude of a signed word; INT_MIN stays."""
    source = decoder.signed(0)
    return decoder.result(lambda warp: np.abs(source(warp)).view(np.uint32))


@opcode("IMNMX", "U32 S32 U64 S64")
def imnmx(decoder: Decoder) -> Run:
    """Minimum where the predicate is true, else maximum; of pairs with !PT behind it, as sm_120 has."""
    if decoder.has("U64", "S64"):
        return _wide_imnmx(decoder)
    unsigned = decoder.has("U32")
    read: Callable[[int], Fetch] = decoder.source if unsigned else decoder.signed
    a, b, least = read(0), read(1), decoder.predicate(2)

    def compute(warp: Warp) -> np.ndarray:
        x, y = a(warp), b(warp)
        chosen = np.where(lanes_of(least(warp)), np.minimum(x, y), np.maximum(x, y))
        return chosen.view(np.uint32)

    return decoder.result(compute)


def _wide_imnmx(decoder: Decoder) -> Run:
    if len(decoder.sources) != 4 or decoder.operand(3) != Predicate(TRUE_PREDICATE, negate=True):
        raise ValueError("source 4 of IMNMX on pairs must be !PT")
    a, b, least = decoder.pair(0), decoder.pair(1), decoder.predicate(2)
    dtype = np.uint64 if decoder.has("U64") else np.int64

    def compute(warp: Warp) -> np.ndarray:
        x, y = a(warp).view(dtype), b(warp).view(dtype)
        return np.where(lanes_of(least(warp)), np.minimum(x, y), np.maximum(x, y))

    return decoder.result64(compute)


@opcode("VABSDIFF", "U32 S32")
def vabsdiff(decoder: Decoder) -> Run:
    """|a - b| + c, the difference without overflow."""
    read = decoder.source if decoder.has("U32") else decoder.signed
    a, b, c = read(0), read(1), decoder.source(2)

    def compute(warp: Warp) -> np.ndarray:
        difference = np.abs(a(warp).astype(np.int64) - b(warp))
        return difference.astype(np.uint32) + c(warp)

    return decoder.result(compute)

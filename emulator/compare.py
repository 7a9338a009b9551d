"""Comparisons into predicates, and predicates packed into registers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.lanes import ALL, LANES, lanes_of, mask_of
from warpfile.emulator.source import Bits, Fetch
from warpfile.emulator.warp import Run, Warp

Compare = Callable[[np.ndarray, np.ndarray], np.ndarray]

_ORDERED: dict[str, Compare] = {
    "F": lambda a, b: np.zeros(np.broadcast(a, b).shape, dtype=bool),
    "LT": np.less,
    "EQ": np.equal,
    "LE": np.less_equal,
    "GT": np.greater,
    "NE": lambda a, b: (a < b) | (a > b),
    "GE": np.greater_equal,
    "NUM": lambda a, b: (a == a) & (b == b),
}
#: Unordered variants are true where an operand is NaN.
_UNORDERED: dict[str, Compare] = {
    "LTU": lambda a, b: ~(a >= b),
    "EQU": lambda a, b: ~((a < b) | (a > b)),
    "LEU": lambda a, b: ~(a > b),
    "GTU": lambda a, b: ~(a <= b),
    "NEU": lambda a, b: a != b,
    "GEU": lambda a, b: ~(a < b),
    "NAN": lambda a, b: (a != a) | (b != b),
    "T": lambda a, b: np.ones(np.broadcast(a, b).shape, dtype=bool),
}
FLOAT_COMPARES = _ORDERED | _UNORDERED
INTEGER_COMPARES = {name: _ORDERED[name] for name in ("F", "LT", "EQ", "LE", "GT", "GE")} | {
    "NE": np.not_equal,
    "T": _UNORDERED["T"],
}
BOOLEANS: dict[str, Callable[[int, int], int]] = {
    "AND": lambda a, b: a & b,
    "OR": lambda a, b: a | b,
    "XOR": lambda a, b: a ^ b,
}
_BOOLEAN_NAMES = " ".join(BOOLEANS)
_BYTES = ("B0", "B1", "B2", "B3")


def compared(decoder: Decoder, bits: Bits, given: Bits) -> Run:
    """p = r bool pin, q = not r bool pin."""
    combine = BOOLEANS[decoder.one_of("AND", *BOOLEANS)]
    first, second = decoder.predicate_writer(0), decoder.predicate_writer(1)

    def run(warp: Warp, mask: int) -> None:
        result, pin = bits(warp), given(warp)
        if first is not None:
            first(warp, mask, combine(result, pin))
        if second is not None:
            second(warp, mask, combine(result ^ ALL, pin))

    return run


def _signed_pair(decoder: Decoder) -> Callable[[int], Fetch]:
    def read(position: int) -> Fetch:
        pair = decoder.pair(position)
        return lambda warp: pair(warp).view(np.int64)

    return read


@opcode("ISETP UISETP", f"U32 S32 U64 S64 EX {' '.join(INTEGER_COMPARES)} {_BOOLEAN_NAMES}")
def isetp(decoder: Decoder) -> Run:
    """ISETP.cmp.bool p, q, a, b, pin; .EX takes the low words' result where the words are equal."""
    readers = {"U32": decoder.source, "S32": decoder.signed, "U64": decoder.pair, "S64": _signed_pair(decoder)}
    read = readers[decoder.one_of("S32", *readers)]
    a, b, given = read(0), read(1), decoder.predicate(2)
    compare = INTEGER_COMPARES[name_of_compare(decoder, INTEGER_COMPARES)]
    if not decoder.has("EX"):
        return compared(decoder, lambda warp: mask_of(compare(a(warp), b(warp))), given)
    low = decoder.predicate(3)

    def bits(warp: Warp) -> int:
        x, y = a(warp), b(warp)
        equal = mask_of(x == y)
        return equal & low(warp) | mask_of(compare(x, y)) & ~equal

    return compared(decoder, bits, given)


@opcode("FSETP", f"FTZ {' '.join(FLOAT_COMPARES)} {_BOOLEAN_NAMES}")
def fsetp(decoder: Decoder) -> Run:
    """FSETP.cmp.bool p, q, a, b, pin on single precision."""
    flush = decoder.has("FTZ")
    return _float_compare(decoder, decoder.float32(0, flush), decoder.float32(1, flush))


@opcode("FSET", f"BF FTZ {' '.join(FLOAT_COMPARES)} {_BOOLEAN_NAMES}")
def fset(decoder: Decoder) -> Run:
    """FSET.BF.cmp.bool d, a, b, pin: 1.0 where the comparison holds, else zero; without .BF all ones [PTX, set]."""
    name, flush = decoder.one_of("", *FLOAT_COMPARES), decoder.has("FTZ")
    if not name:
        raise ValueError(f"comparison must be one of {', '.join(FLOAT_COMPARES)}")
    compare, combine = FLOAT_COMPARES[name], BOOLEANS[decoder.one_of("AND", *BOOLEANS)]
    true = np.uint32(0x3F800000 if decoder.has("BF") else ALL)
    a, b, given = decoder.float32(0, flush), decoder.float32(1, flush), decoder.predicate(2)

    def compute(warp: Warp) -> np.ndarray:
        held = combine(mask_of(np.broadcast_to(compare(a(warp), b(warp)), (LANES,))), given(warp))
        return np.where(lanes_of(held), true, np.uint32(0))

    return decoder.result(compute)


@opcode("DSETP", f"{' '.join(FLOAT_COMPARES)} {_BOOLEAN_NAMES} MIN MAX")
def dsetp(decoder: Decoder) -> Run:
    """DSETP.cmp.bool p, q, a, b, pin on double precision; .MIN and .MAX tell which operand to select."""
    if decoder.has("MIN", "MAX"):
        return _double_choice(decoder)
    return _float_compare(decoder, decoder.float64(0), decoder.float64(1))


def _float_compare(decoder: Decoder, a: Fetch, b: Fetch) -> Run:
    compare = FLOAT_COMPARES[name_of_compare(decoder, FLOAT_COMPARES)]
    return compared(decoder, lambda warp: mask_of(compare(a(warp), b(warp))), decoder.predicate(2))


def _double_choice(decoder: Decoder) -> Run:
    """p = whether a is the result of fmin or fmax, q = whether there is none, since both are NaN [?].

    Deduced from compiled code, which selects by p and makes b a quiet NaN where q is true. -0 is below +0.
    """
    a, b, given, least = decoder.float64(0), decoder.float64(1), decoder.predicate(2), decoder.has("MIN")
    first, second = decoder.predicate_writer(0), decoder.predicate_writer(1)

    def run(warp: Warp, mask: int) -> None:
        x, y = a(warp), b(warp)
        zeros = (x == 0) & (y == 0)
        below = np.where(zeros, np.signbit(x) & ~np.signbit(y), x < y)
        above = np.where(zeros, np.signbit(y) & ~np.signbit(x), x > y)
        chosen = (below if least else above) | (np.isnan(y) & ~np.isnan(x))
        pin = given(warp)
        if first is not None:
            first(warp, mask, mask_of(chosen) & pin)
        if second is not None:
            second(warp, mask, mask_of(np.isnan(x) & np.isnan(y)) & pin)

    return run


def name_of_compare(decoder: Decoder, table: dict[str, Compare]) -> str:
    """The comparison of an opcode: its first modifier behind the type."""
    name = next((mark for mark in decoder.modifiers if mark != "BF16_V2"), "")
    if name not in table:
        raise ValueError(f"comparison must be one of {', '.join(table)}, not {name!r}")
    return name


@opcode("P2R", "B1 B2 B3", marks=" ".join(_BYTES))
def p2r(decoder: Decoder) -> Run:
    """P2R[.Bk] d, PR, src, mask: src with the masked predicates in the low bits of byte k [?]."""
    source, mask_bits = decoder.source(1), decoder.literal(2)
    if mask_bits is None:
        raise ValueError("mask of P2R must be a literal")
    known, shift = mask_bits & 0x7F, 8 * _byte(decoder)
    keep = np.uint32(~(known << shift) & ALL)

    def compute(warp: Warp) -> np.ndarray:
        value = source(warp) & keep
        for number in range(7):
            if known >> number & 1:
                value = value | lanes_of(warp.predicates[number]).astype(np.uint32) << np.uint32(shift + number)
        return value

    return decoder.result(compute)


@opcode("R2P", "B1 B2 B3", marks=" ".join(_BYTES))
def r2p(decoder: Decoder) -> Run:
    """R2P PR, src[.Bk], mask: the masked predicates from the low bits of src's byte k."""
    source, mask_bits, shift = decoder.source(1), decoder.literal(2), 8 * _byte(decoder)
    known = 0x7F if mask_bits is None else mask_bits

    def run(warp: Warp, mask: int) -> None:
        value = source(warp)
        for number in range(7):
            if known >> number & 1:
                bits = mask_of(value >> np.uint32(shift + number) & np.uint32(1) != 0)
                warp.predicates[number] = warp.predicates[number] & ~mask | bits & mask

    return run


def _byte(decoder: Decoder) -> int:
    """Which byte of a register holds the predicates, by a mark of the opcode or of the register."""
    marks = (*decoder.modifiers, *getattr(decoder.operand(1), "marks", ()))
    return next((number for number, mark in enumerate(_BYTES) if mark in marks), 0)

"""Operands of the probes: edges of their type first, then edges, random bits and ordinary values mixed.

They come from a hash of their own, so that every version of NumPy makes the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_SINGLE = """0 1 2 00000fff 00400000 007fffff 00800000 00800001 01000000 0d000000 1f800000 33000000 33800000 387fc000
    38800000 39000000 3effffff 3f000000 3f000001 3f7fffff 3f800000 3f800001 3fc00000 40000000 40200000 40490fdb 42fe0000
    42ff0000 43000000 43160000 43800000 477fe000 477ff000 477fffff 4b000001 4b7fffff 4effffff 4f000000 4f7fffff 4f800000
    5effffff 5f000000 5f7fffff 5f800000 7e7fffff 7e800000 7f000000 7f7fffff 7f800000 7f800001 7fc00000 7fffffff"""
_DOUBLE = """0 1 000fffffffffffff 0010000000000000 0010000000000001 0020000000000000 3690000000000000 3690000000000001
    36a0000000000000 380fffffe0000000 380fffffefffffff 380ffffff0000000 3810000000000000 3810000010000000
    3e50000000000000 3f00000000000000 3fdfffffffffffff 3fe0000000000000 3fefffffffffffff 3ff0000000000000
    3ff0000000000001 3ff0000010000000 3ff8000000000000 4004000000000000 400921fb54442d18 40dfffc000000000
    40effe0000000000 41dfffffffc00000 41e0000000000000 41efffffffe00000 41f0000000000000 43dfffffffffffff
    43e0000000000000 43efffffffffffff 43f0000000000000 47efffffe0000000 47efffffefffffff 47effffff0000000
    47f0000000000000 5ff0000000000000 7fd0000000000000 7fe0000000000000 7fefffffffffffff 7ff0000000000000
    7ff0000000000001 7ff8000000000000 7fffffffffffffff"""
_HALF = """0 1 0155 0200 03ff 0400 0401 0800 1000 2000 37ff 3800 3801 3bff 3c00 3c01 3e00 4000 4100 4248 5800 63ff 6400
    6801 77ff 7800 7bff 7c00 7c01 7e00 7fff"""
_WORD = """0 1 2 3 7 1f 20 21 3f 40 7f 80 ff 100 3210 7654 8888 7fff 8000 ffff 10000 ffffff 1000000 1000001 1fffffe
    3ffffff 55555555 76543210 7fffff80 7fffffbf 7fffffc0 7fffffff 80000000 80000001 80000080 80808080 aaaaaaaa fedcba98
    ffffff7f ffffff80 ffffffc0 fffffffe ffffffff"""
_LONG = """0 1 7fffffff 80000000 ffffffff 100000000 1000001000000 1fffffffffffff 20000000000001 3fffffffffffff
    7fffff4000000000 7fffffbfffffffff 7fffffc000000000 7ffffffffffffdff 7ffffffffffffe00 7fffffffffffffff
    8000000000000000 8000000000000001 8000008000000000 fffffeffffffffff ffffff8000000000 fffffffffffffbff
    fffffffffffffc00 ffffffff00000000 ffffffffffffffff"""
_TINY = """0 00800000 00800001 00800002 00bfffff 00c00000 00fffffe 00ffffff 01000000 01000001 1effffff 1f000000 1f7fffff
    1f800000 1f800001 1fffffff 20000000 20000001 3effffff 3f000000 3f000001 3f7ffffe 3f7fffff 3f800000 3f800001
    3fbfffff"""
_TINY_HALF = (
    "0 0001 03ff 0400 0401 05ff 0600 07fe 07ff 0800 0801 1dff 1e00 1fff 2000 2001 37ff 3800 3801 3bfe 3bff 3c00 3c01"
)
_NANS = """0 3ff0000000000000 c000000000000000 7fefffffffffffff 7ff0000000000000 fff0000000000000 7ff0000000000001
    7ff0000000000005 fff4000000000002 7ff8000000000000 fff8000000000003 7ffc000000000004 7fffffffffffffff
    fffffffffffffffe"""
_SHIFT = "0 1 2 7 8 f 10 1e 1f 20 21 22 3e 3f 40 41 5f 60 7f 80 ff 100 101 8000 ffff 7fffffff 80000000 ffffffff"


def _edges(text: str, sign: int = 0) -> np.ndarray:
    values = [int(word, 16) for word in text.split()]
    return np.array([*values, *(value | sign for value in values if sign)], dtype=np.uint64)


def _random(place: str, count: int) -> np.ndarray:
    """``uint64[count]`` of evenly spread bits (the finaliser of SplitMix64 on a counter)."""
    start = int.from_bytes(place.encode().rjust(7, b"."), "little") << 8
    with np.errstate(over="ignore"):
        value = (np.arange(count, dtype=np.uint64) + np.uint64(start)) * np.uint64(0x9E3779B97F4A7C15)
        value = (value ^ value >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ value >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return value ^ value >> np.uint64(31)


def _ordinary32(bits: np.ndarray, spread: int = 24) -> np.ndarray:
    exponent = bits >> np.uint64(40) & np.uint64(0xFF)
    return bits & np.uint64(0x807FFFFF) | (np.uint64(127 - spread // 2) + exponent % np.uint64(spread)) << np.uint64(23)


def _ordinary64(bits: np.ndarray) -> np.ndarray:
    return bits & np.uint64(0x83FFFFFFFFFFFFFF) | np.uint64(0x3C00000000000000)


def _ordinary16(bits: np.ndarray, spread: int = 12) -> np.ndarray:
    exponent = bits >> np.uint64(40) & np.uint64(0xFF)
    return bits & np.uint64(0x83FF) | (np.uint64(15 - spread // 2) + exponent % np.uint64(spread)) << np.uint64(10)


def _mixed(place: str, count: int, edges: np.ndarray, ordinary: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Edges in order where ``place`` is the first operand's, then two edges, random bits and ordinary ones of four."""
    bits, choice = _random(place, count), _random(f"{place}c", count)
    kind = choice & np.uint64(3)
    edge = edges[(choice >> np.uint64(8)) % np.uint64(len(edges))]
    values = np.where(kind < 2, edge, np.where(kind == 2, bits, ordinary(bits)))
    if "0" in place:
        values[: len(edges)] = edges[:count]
    return values


def _chosen(place: str, count: int, edges: np.ndarray) -> np.ndarray:
    return edges[(_random(place, count) >> np.uint64(20)) % np.uint64(len(edges))]


def _halves(place: str, count: int, edges: np.ndarray | None, spread: int = 12) -> np.ndarray:
    """Four halves side by side."""
    total = np.zeros(count, dtype=np.uint64)
    for part in range(4):
        name = f"{place}{'abcd'[part]}"
        ordinary: Callable[[np.ndarray], np.ndarray] = lambda bits: _ordinary16(bits, spread)  # noqa: E731
        values = ordinary(_random(name, count)) if edges is None else _mixed(name, count, edges, ordinary)
        total |= (values & np.uint64(0xFFFF)) << np.uint64(16 * part)
    return total


def _pair(place: str, make: Callable[[str], np.ndarray]) -> np.ndarray:
    low, high = (make(f"{place}{part}") & np.uint64(0xFFFFFFFF) for part in "lh")
    return low | high << np.uint64(32)


def operand(kind: str, position: int, count: int) -> np.ndarray:
    """``uint64[count]``: both words of an operand of a probe, low word first.

    Kinds: f single, d double, h halves, i integer, q 64-bit integer, s amount of a shift; t singles and u halves whose
    products come near the smallest normal number, n doubles that are mostly NaN; for tensor cores, without extreme
    values, p and v halves, g and z singles (v and z near one another).
    """
    place = f"{kind}{position}"
    sign32, sign64 = 1 << 31, 1 << 63
    makers: dict[str, Callable[[], np.ndarray]] = {
        "f": lambda: _pair(place, lambda name: _mixed(name, count, _edges(_SINGLE, sign32), _ordinary32)),
        "d": lambda: _mixed(place, count, _edges(_DOUBLE, sign64), _ordinary64),
        "h": lambda: _halves(place, count, _edges(_HALF, 1 << 15)),
        "i": lambda: _pair(place, lambda name: _mixed(name, count, _edges(_WORD), lambda bits: bits >> np.uint64(44))),
        "q": lambda: _mixed(place, count, _edges(_LONG), lambda bits: bits >> np.uint64(20)),
        "s": lambda: _mixed(place, count, _edges(_SHIFT), lambda bits: bits & np.uint64(0x3F)) & np.uint64(0xFFFFFFFF),
        "t": lambda: _pair(place, lambda name: _chosen(name, count, _edges(_TINY, sign32))),
        "u": lambda: _halves(place, count, _edges(_TINY_HALF, 1 << 15)),
        "n": lambda: _chosen(place, count, _edges(_NANS)),
        "p": lambda: _halves(place, count, None),
        "v": lambda: _halves(place, count, None, 3),
        "g": lambda: _pair(place, lambda name: _ordinary32(_random(name, count))),
        "z": lambda: _pair(place, lambda name: _ordinary32(_random(name, count), 6)),
    }
    return makers[kind]()


def words(kinds: str, count: int) -> np.ndarray:
    """``uint32[2 * operands, count]``: what the probes find as ``in``."""
    rows = [operand(kind, position, count) for position, kind in enumerate(kinds)]
    return np.stack([(row >> np.uint64(shift)).astype(np.uint32) for row in rows for shift in (0, 32)])

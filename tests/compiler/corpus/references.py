"""What kernels of the corpus compute, by NumPy: arguments of a launch of one CTA, and what buffers must hold behind it.

Left out is what has no such result: code that is refused or not executed, textures, clocks, approximations, and code
whose threads read what others of their warp write. Of buffers that have such elements the others are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from warpfile.compiler import Listing
from warpfile.emulator.arguments import Argument
from warpfile.emulator.constants import Constant
from warpfile.emulator.launch import Launch

LANE = np.arange(32)
ALL = 0xFFFFFFFF


@dataclass(frozen=True)
class Reference:
    """``arguments`` in the kernel's order: arrays for buffers, NumPy scalars, and arrays in a tuple for structures.

    ``expected`` has the first elements of a buffer, or, by index, some of them; ``constants`` contents of a variable.
    """

    arguments: Mapping[str, np.ndarray | np.generic | tuple[np.ndarray]]
    expected: Mapping[str, np.ndarray | Mapping[int, float]]
    threads: int = 32
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)


def launch(listing: Listing, reference: Reference) -> Launch:
    """The launch of the listing's only kernel."""
    (function,) = listing.functions.values()
    return Launch(
        path=Path(listing.name),
        listing=listing,
        function=function,
        grid=(1, 1, 1),
        block=(reference.threads, 1, 1),
        static_shared=function.static_shared,
        dynamic_shared=0,
        arguments=tuple(_argument(name, value) for name, value in reference.arguments.items()),
        constants=tuple(
            Constant(listing.constant_symbols[name].offset, data.tobytes())
            for name, data in reference.constants.items()
        ),
    )


def _argument(name: str, value: np.ndarray | np.generic | tuple[np.ndarray]) -> Argument:
    if isinstance(value, tuple):
        return Argument(name, "struct", fields=(Argument("words", "i32", data=value[0].tobytes()),))
    if isinstance(value, np.ndarray):
        return Argument(name, "buffer", init=value)
    return Argument(name, f"{value.dtype.kind}{8 * value.dtype.itemsize}", data=value.tobytes())


def differences(found: Mapping[str, np.ndarray], reference: Reference) -> list[str]:
    """Where buffers are not what they must be: name, index, both values."""
    lines = []
    for name, wanted in reference.expected.items():
        pairs = wanted.items() if isinstance(wanted, Mapping) else np.ndenumerate(wanted)
        lines += [f"{name}[{at}] is {found[name][at]}, not {value}" for at, value in pairs if found[name][at] != value]
    return lines


def _random(*shape: int, least: int = -3, most: int = 3) -> np.ndarray:
    return np.random.default_rng(shape).integers(least, most + 1, shape)


def _words(values: np.ndarray) -> np.ndarray:
    """Integers of any size as words of 32 bits."""
    return (values & ALL).astype(np.uint32)


def async_copy() -> Reference:
    x, n = _random(5, 64, 4).astype(np.float32), 5
    products = x[:, :, 0] * x[:, :, 1] + x[:, :, 2] * x[:, :, 3]
    buffers = {"x": x, "y": np.zeros(64, np.float32), "n": np.int32(n)}
    return Reference(buffers, {"y": products.sum(axis=0)[::-1]}, threads=64)


def atomics() -> Reference:
    x, y = np.full(70, 77, np.int32), np.array([5, 6, 9], np.uint64)
    expected = {"x": {65: 0, 66: 0}, "y": np.array([5 + 496, 31, 9]), "z": np.array([33.5])}
    return Reference({"x": x, "y": y, "z": np.array([1.5], np.float32)}, expected)


def constants() -> Reference:
    table, a = _random(64).astype(np.float32), _random(20, least=0, most=20).astype(np.int32)
    wanted = table * a[np.arange(64) & 15] + table[a[3]]
    return Reference({"p": (a,), "x": np.zeros(64, np.float32)}, {"x": wanted}, 64, {"ct": table})


def dependent_launch() -> Reference:
    return Reference({"x": LANE.astype(np.int32)}, {"x": LANE + 1})


def elect() -> Reference:
    return Reference({"x": np.full(32, 7, np.uint32)}, {"x": (LANE == 0).astype(int)})


def groups() -> Reference:
    x, y = _random(32).astype(np.int32), _random(32, 1).astype(np.float32)
    return Reference({"x": x, "y": y}, {"x": x.sum() + LANE, "y": np.full((32, 1), y.max())})


def halves() -> Reference:
    """Threads 0 to 8 of the first buffer and 0 to 6 of the second: other threads write behind them."""
    x, y = _random(48, 2), _random(50, 2)
    x, y = x.astype(np.float16), y.astype(np.float32)
    a, b, c, d = (x[n : n + 32].astype(np.float64) for n in range(4))
    packed = (y.view(np.uint32) >> 16).astype(np.uint16)
    new_x = np.maximum(a * b + c, 0) + np.minimum(a, d) * np.exp2(a)
    new_y = y[:32] * y[1:33] + y[2:34] + np.maximum(y[:32], y[4:36])
    buffers = {"x": x, "y": packed, "z": np.zeros(48, np.float32)}
    return Reference(buffers, {"x": new_x[:9], "y": new_y[:7].astype(np.float32).view(np.uint32) >> 16})


def integers64() -> Reference:
    rng, k = np.random.default_rng(64), -(1 << 61) - 12345
    x, y = (rng.integers(-(1 << 63), (1 << 63) - 1, 36).tolist() for _ in range(2))
    y = [value & (1 << 64) - 1 for value in y]
    signed, unsigned = [], []
    for t in range(32):
        divisor = x[t + 3] | 1
        quotient = abs(k) // abs(divisor) * (1 if (k < 0) == (divisor < 0) else -1)
        first = min(x[t], x[t + 1]) * x[t + 2] + quotient + (x[t] * x[t + 1] >> 64) & (1 << 64) - 1
        second = (max(y[t], y[t + 1]) >> t | y[t + 2] << 3) & (1 << 64) - 1
        bits = f"{second:064b}"
        if first > second:
            first = bits.count("1") + bits.index("1") + int(bits[::-1], 2) & (1 << 64) - 1
        signed.append(first)
        unsigned.append(second)
    buffers = {"x": np.array(x, np.int64), "y": np.array(y, np.uint64), "k": np.int64(k)}
    return Reference(buffers, {"x": np.array(signed, np.uint64).view(np.int64), "y": np.array(unsigned, np.uint64)})


def lanes() -> Reference:
    x = _random(33, least=0, most=7)
    own = x[:32]
    same = (own[:, None] == own) @ (1 << LANE)
    odd = (own[:, None] & 1 == own & 1) @ LANE
    ballot = int((own > 3) @ (1 << LANE))
    down = np.where(LANE % 16 < 15, x[1:], own)
    # any(x > 4) holds, all(x > 5) and match_all do not
    assert own.max() > 4 and own.min() <= 5 and len(set(x[1:])) > 1
    return Reference({"x": _words(x)}, {"x": _words(same + ballot + 1 + own[LANE ^ 3] + down + ALL + odd)})


def _transposed(words: np.ndarray) -> np.ndarray:
    """A fragment of 8 x 8 halves, a word per lane, the other way round."""
    return np.ascontiguousarray(words.view(np.uint16).reshape(8, 8).T).view(np.uint32).reshape(32)


def ldmatrix() -> Reference:
    x = _random(128, least=0, most=ALL).astype(np.uint32)
    a, b, c, d = x.reshape(4, 32)
    wanted = _transposed(a) + _transposed(b) * _transposed(c) ^ d
    return Reference({"x": x}, {"x": wanted})


def minima() -> Reference:
    x, y = _random(96).astype(np.float32), _random(97, least=-(1 << 20), most=1 << 20)
    a, b, c = x.reshape(3, 32)
    one, two, three = y[:96].reshape(3, 32)
    least = np.minimum(np.minimum(one, two), three) + np.maximum(one + two, 5)
    least += np.minimum(np.minimum(one, y[1:33]), y[2:34])
    for shift in (0, 16):
        first, second, third = (_half(y[n : n + 32] >> shift) for n in (0, 3, 4))
        least += np.maximum(np.maximum(_half(first + second), third), 0) << shift
    smallest = np.minimum(np.minimum(a, b), c) + np.maximum(np.maximum(a, c), b)
    return Reference({"x": x, "y": y.astype(np.int32)}, {"x": smallest, "y": _words(least).view(np.int32)})


def _half(values: np.ndarray) -> np.ndarray:
    """The low halves of words, with sign."""
    return (values & 0xFFFF ^ 0x8000) - 0x8000


def _bytes(values: np.ndarray) -> list[np.ndarray]:
    return [values >> shift & 0xFF for shift in (0, 8, 16, 24)]


def _byte(values: np.ndarray) -> np.ndarray:
    return (values & 0xFF ^ 0x80) - 0x80


def _packed(elements: np.ndarray, bits: int) -> np.ndarray:
    """Elements of ``bits`` bits, the last axis of one word each, as words."""
    return _words((elements.astype(np.int64) & (1 << bits) - 1) @ (1 << bits * np.arange(32 // bits)))


def _float_bits(kind: str, values: np.ndarray) -> np.ndarray:
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16)
    return values.astype(np.float32).view(np.uint32) >> (16 if kind == "bf16" else 0)


def product(
    kind: str,
    bits: int,
    registers: tuple[int, int] = (4, 2),
    of_a: tuple[int, int] = (-3, 3),
    of_b: tuple[int, int] | None = None,
) -> Reference:
    """mma.m16n8: ``registers`` of A and of B per lane; rows, columns and depths of elements as in the PTX ISA."""
    count = 32 // bits
    depth = 4 * count * registers[1]
    (least, most), (least_b, most_b) = of_a, of_b or of_a
    a, b = _random(16, depth, least=least, most=most), _random(depth, 8, least=least_b, most=most_b)
    group, place, element = LANE[:, None] // 4, LANE[:, None] % 4, np.arange(count)
    parts = [a[group + 8 * (n & 1), place * count + element + 4 * count * (n >> 1)] for n in range(registers[0])] + [
        b[place * count + element + 4 * count * n, group] for n in range(registers[1])
    ]
    encoded = np.stack(parts, axis=1)
    if kind in ("f16", "bf16", "tf32"):
        encoded = _float_bits(kind, encoded)
    return Reference({"A": _packed(encoded, bits), "d": _sums(kind)}, {"d": _fragment(a @ b)})


def _sums(kind: str) -> np.ndarray:
    return np.zeros((32, 4), np.int32 if kind == "int" else np.float32)


def _fragment(sums: np.ndarray) -> np.ndarray:
    """The four elements of 16 x 8 sums that each lane has."""
    row, column = LANE[:, None] // 4 + [0, 0, 8, 8], 2 * (LANE[:, None] % 4) + [0, 1, 0, 1]
    return np.asarray(sums[row, column])


def mma_f16_sums() -> Reference:
    found = product("f16", 16)
    sums = np.asarray(found.expected["d"]).astype(np.float16)
    return Reference({"A": found.arguments["A"], "d": np.zeros((32, 4), np.float16)}, {"d": sums})


def mma_f64() -> Reference:
    a, b = _random(8, 4), _random(4, 8)
    given = np.stack([a[LANE // 4, LANE % 4], b[LANE % 4, LANE // 4]], axis=1).astype(np.float64)
    sums = (a @ b)[LANE[:, None] // 4, 2 * (LANE[:, None] % 4) + [0, 1]]
    return Reference({"A": given, "d": np.zeros((32, 2))}, {"d": sums})


def mma_f64_large() -> Reference:
    a, b = _random(16, 16), _random(16, 8)
    group, place = LANE // 4, LANE % 4
    parts = [a[group + 8 * (n & 1), place + 4 * (n >> 1)] for n in range(8)]
    parts += [b[place + 4 * n, group] for n in range(4)]
    return Reference({"A": np.stack(parts, axis=1).astype(np.float64), "d": np.zeros((32, 4))}, {"d": _fragment(a @ b)})


def recursion() -> Reference:
    x = _random(64, least=0, most=9)
    x[0] = 6
    a = x[:32:2]
    numbers = [int(a[0]), int(a[1])]
    while len(numbers) <= 6:
        numbers.append(numbers[-1] + numbers[-2])
    return Reference({"x": x.astype(np.int32)}, {"x": np.full(32, numbers[6] + a[x[1] & 15])})


def redux() -> Reference:
    x = _random(32, 1, least=-(1 << 31), most=(1 << 31) - 1)[:, 0]
    bits = _words(x).astype(np.int64)
    both, either = int(np.bitwise_and.reduce(bits)), int(np.bitwise_or.reduce(bits))
    last = int(bits.max()) + both * either - int(np.bitwise_xor.reduce(bits))
    wanted = (int(x.sum()) ^ int(x.min()) ^ last) & ALL
    return Reference({"x": x.astype(np.int32)}, {"x": np.full(32, wanted, np.uint32).view(np.int32)})


def switch() -> Reference:
    """The first elements are what the loop reads; their threads return at once."""
    n, x = 5, _random(32, least=0, most=1000)
    x[:n] = 9
    wanted = x.copy()
    for t in range(n, 32):
        wanted[t] = _switched(int(x[t]), t, n)
    return Reference({"x": x.astype(np.int32), "n": np.int32(n)}, {"x": wanted})


def _switched(start: int, t: int, n: int) -> int:
    v = start
    for _ in range(n):
        case = v & 15
        if case == 9:
            return start
        by_case = (v * 3, v + 9, v ^ 5, ~v, v - t, int(v / 7), v - 11 * int(v / 11), v << 1, min(v, 9))
        v = by_case[case] if case < len(by_case) else v + 1
    return v


def vector_atomics() -> Reference:
    x = np.zeros(101, np.float32)
    total = 496.0
    double = np.array([total]).view(np.float32)
    half = np.full(2, total, np.float16).view(np.float32)
    wanted = {**dict.fromkeys((0, 1, 2, 3, 8, 64, 65), total), 16: double[0], 17: double[1], 20: half[0]}
    return Reference({"x": x}, {"x": wanted})


def video() -> Reference:
    """The selectors of byte permutations have no bit of the sign."""
    x = _random(40, least=-(1 << 31), most=(1 << 31) - 1) & 0x77777777
    x = np.where(np.arange(40) % 3 == 0, x - (1 << 31), x)
    x[2:34] &= ~0x8888
    a, b, c, d = (x[n : n + 32] for n in range(4))
    wanted = sum(_byte(one) * _byte(two) for one, two in zip(_bytes(a), _bytes(b), strict=True)) + c
    wanted += _half(a) * _byte(d) + _half(a >> 16) * _byte(d >> 8) + a
    wanted += sum((_half(a >> shift) + _half(c >> shift) & 0xFFFF) << shift for shift in (0, 16))
    wanted += sum(abs(one - two) << 8 * n for n, (one, two) in enumerate(zip(_bytes(a), _bytes(b), strict=True)))
    wanted += sum((np.maximum(_half(a >> shift), _half(x[8:40] >> shift)) & 0xFFFF) << shift for shift in (0, 16))
    text = [f"{value & ALL:032b}" for value in a.tolist()]
    wanted += np.array([int(one[::-1], 2) + one.count("1") + (32 - len(one.lstrip("0"))) for one in text])
    wanted += np.array([32 - one.rfind("1") if "1" in one else 0 for one in text])
    wanted += ((b & ALL) << LANE | (a & ALL) >> 32 - LANE) & ALL
    both = [*_bytes(a), *_bytes(b)]
    for n in range(4):
        wanted += np.choose(c >> 4 * n & 7, both) << 8 * n
    low = [((value & 0xFFFFFF) ^ 0x800000) - 0x800000 for value in (a, b)]
    wanted += low[0] * low[1] + (a * b >> 32) + abs(a - b) + LANE
    return Reference({"x": x.astype(np.int32)}, {"x": _words(wanted).view(np.int32)})


def wmma() -> Reference:
    a, b = _random(16, 64), _random(16, 64, least=-2)
    given = {"a": a.astype(np.float16), "b": b.astype(np.float16), "c": np.zeros((16, 16), np.float32)}
    return Reference(given, {"c": a @ b.T})


#: By source.
REFERENCES: Mapping[str, Callable[[], Reference]] = {
    one.__name__: one
    for one in (
        async_copy,
        atomics,
        constants,
        dependent_launch,
        elect,
        groups,
        halves,
        integers64,
        lanes,
        ldmatrix,
        minima,
        mma_f16_sums,
        mma_f64,
        mma_f64_large,
        recursion,
        redux,
        switch,
        vector_atomics,
        video,
        wmma,
    )
} | {
    "mma_b1": lambda: product("int", 1, of_a=(0, 1)),
    "mma_bf16": lambda: product("bf16", 16),
    "mma_f16": lambda: product("f16", 16),
    "mma_f16_small": lambda: product("f16", 16, (2, 1)),
    "mma_s4": lambda: product("int", 4, of_a=(-8, 7)),
    "mma_s8": lambda: product("int", 8, of_a=(-128, 127)),
    "mma_s8_small": lambda: product("int", 8, (2, 1), (0, 255), (-128, 127)),
    "mma_tf32": lambda: product("tf32", 32),
}

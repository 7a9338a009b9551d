"""Transcendental unit and special registers.

MUFU's last bits are not documented. These results are correctly rounded from double precision, so traces mark them as
approximate: docs/hardware.md has how far hardware is from that. Subnormal operands and results are zero with and
without .FTZ, except for TANH.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpfile.compiler.model import Immediate, Name
from warpfile.emulator.conversion import canonical_half, half_source
from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.float32 import finished
from warpfile.emulator.lanes import LANES
from warpfile.emulator.memory import SHARED_WINDOW
from warpfile.emulator.source import Fetch, float64_bits, flushed
from warpfile.emulator.warp import Run, Warp

_TURN = 2.0 * np.pi


def _sine(turns: np.ndarray) -> np.ndarray:
    """Sine of revolutions, whose fraction is exact; the fraction is folded so that the zeros are."""
    rest = turns - np.rint(turns)
    return np.sin(_TURN * np.where(np.abs(rest) > 0.25, np.copysign(0.5, rest) - rest, rest))


def _cosine(turns: np.ndarray) -> np.ndarray:
    return np.sin(_TURN * (0.25 - np.abs(turns - np.rint(turns))))


_FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "RCP": lambda x: 1.0 / x,
    "RSQ": lambda x: 1.0 / np.sqrt(x),
    "SQRT": np.sqrt,
    "EX2": np.exp2,
    "LG2": np.log2,
    "SIN": _sine,  # the argument comes in revolutions
    "COS": _cosine,
    "TANH": np.tanh,
}
_HIGH_WORDS = {"RCP64H": "RCP", "RSQ64H": "RSQ"}


@opcode("MUFU", f"FTZ SAT F16 BF16 {' '.join(_FUNCTIONS)} {' '.join(_HIGH_WORDS)}", marks="H0 H1 H0_H0 H1_H1")
def mufu(decoder: Decoder) -> Run:
    """One function of one operand; the 64H forms read and write the upper word of a double, .F16 and .BF16 a half."""
    name = decoder.one_of("", *_FUNCTIONS, *_HIGH_WORDS)
    if name in _HIGH_WORDS:
        return _high_word(decoder, _FUNCTIONS[_HIGH_WORDS[name]])
    if name not in _FUNCTIONS:
        raise ValueError(f"function of MUFU must be one of {', '.join(_FUNCTIONS)}")
    if decoder.has("F16", "BF16"):
        kind = decoder.one_of("F16", "BF16", "F16")
        half, of_half = half_source(decoder, kind), _FUNCTIONS[name]
        return decoder.result(lambda warp: canonical_half(of_half(half(warp)), kind))
    function, flush = _FUNCTIONS[name], name != "TANH" or decoder.has("FTZ")
    source = decoder.float32(0, flush)

    def compute(warp: Warp) -> np.ndarray:
        value = function(source(warp).astype(np.float64)).astype(np.float32)
        return flushed(value) if flush else value

    return decoder.result(finished(decoder, compute))


def _high_word(decoder: Decoder, function: Callable[[np.ndarray], np.ndarray]) -> Run:
    literal = decoder.operand(0)
    if isinstance(literal, Immediate) and not literal.is_pattern:  # printed as the double that it is the upper word of
        word = decoder.known(float64_bits(literal) >> 32).view(np.float32)
        source: Fetch = lambda warp: word  # noqa: E731
    else:
        source = decoder.float32(0)  # its sign marks act on the upper word, where a double's sign is

    def compute(warp: Warp) -> np.ndarray:
        wide = (_normal_high(source(warp).view(np.uint32)).astype(np.uint64) << np.uint64(32)).view(np.float64)
        value = function(wide)
        high = _normal_high((value.view(np.uint64) >> np.uint64(32)).astype(np.uint32))
        return np.where(np.isnan(value), np.uint32(0x7FFFFFFF), high)

    return decoder.result(compute)


def _normal_high(words: np.ndarray) -> np.ndarray:
    """Upper words of doubles, those of subnormal ones as zero."""
    return np.where(words & np.uint32(0x7FF00000), words, words & np.uint32(1 << 31))


def _clock(warp: Warp) -> int:
    """Instructions the warp has executed: the emulator has no time."""
    return len(warp.records)


def _special_name(decoder: Decoder) -> str:
    operand = decoder.operand(0)
    if not isinstance(operand, Name):
        raise ValueError("source must be a special register")
    return operand.text


#: Numbers of the multiprocessor, the grid and the CTA in its cluster, and the limit that the stack must stay above.
_ZERO = frozenset("SRZ SR_VIRTUALSMID SR_VIRTID SR_SMID SR_VIRTCFG SR_GRIDID SR_LMEMHIOFF SR_CgaCtaId".split())
_CLOCKS = ("SR_CLOCKLO", "SR_GLOBALTIMERLO", "SR_CLOCKHI", "SR_GLOBALTIMERHI")


@opcode("S2R S2UR")
def s2r(decoder: Decoder) -> Run:
    """Read a special register."""
    name, width = _special_name(decoder), decoder.width
    if decoder.instruction.opcode == "S2UR":
        width = 1
    if name in _CLOCKS:
        high = name.endswith("HI")
        return decoder.result(lambda warp: np.full(width, 0 if high else _clock(warp), dtype=np.uint32))
    if name in _ZERO:
        return decoder.result(lambda warp: np.zeros(width, dtype=np.uint32))
    if name == "SR_SWINHI":
        return decoder.result(lambda warp: np.full(width, SHARED_WINDOW >> 32, dtype=np.uint32))
    if name not in SPECIAL_REGISTERS:
        raise ValueError(f"special register must be one of {', '.join((*SPECIAL_REGISTERS, *_CLOCKS))}, not {name}")
    return decoder.result(lambda warp: warp.special[name][:width])


@opcode("CS2R CS2UR", "32")
def cs2r(decoder: Decoder) -> Run:
    """Read a special register as a pair (zero for SRZ), or its low word with .32."""
    name = _special_name(decoder)
    if name not in ("SRZ", "SR_CLOCKLO", "SR_GLOBALTIMERLO"):
        raise ValueError(f"special register must be SRZ or a clock, not {name}")
    clock = _clock if name != "SRZ" else (lambda warp: 0)
    if decoder.has("32"):
        return decoder.result(lambda warp: np.full(decoder.width, clock(warp), dtype=np.uint32))
    return decoder.result64(lambda warp: np.full(decoder.width, clock(warp), dtype=np.uint64))


@opcode("LEPC")
def lepc(decoder: Decoder) -> Run:
    """Offset of the instruction itself, as a pair (compiled code adds distances to it)."""
    offset = decoder.instruction.offset
    return decoder.result64(lambda warp: np.full(LANES, offset, dtype=np.uint64))


SPECIAL_REGISTERS = (
    *(f"SR_{what}.{axis}" for what in ("TID", "CTAID") for axis in "XYZ"),
    "SR_LANEID",
    "SR_WARPID",
    *(f"SR_{what}MASK" for what in ("EQ", "LT", "LE", "GT", "GE")),
)


Triple = tuple[int, int, int]


def special_registers(warp_number: int, block: Triple, cta: Triple) -> dict[str, np.ndarray]:
    """Values of the special registers in the lanes of a warp."""
    lane = np.arange(LANES, dtype=np.uint64)
    thread = lane + LANES * warp_number
    place = (thread % block[0], thread // block[0] % block[1], thread // (block[0] * block[1]))
    one = np.uint64(1)
    below = (one << lane) - one
    full = np.uint64(0xFFFFFFFF)
    found = {f"SR_TID.{axis}": value for axis, value in zip("XYZ", place, strict=True)}
    found |= {f"SR_CTAID.{axis}": np.full(LANES, value) for axis, value in zip("XYZ", cta, strict=True)}
    found |= {"SR_LANEID": lane, "SR_WARPID": np.full(LANES, warp_number)}
    found |= {"SR_EQMASK": one << lane, "SR_LTMASK": below, "SR_LEMASK": below | one << lane}
    found |= {"SR_GTMASK": full & ~(below | one << lane), "SR_GEMASK": full & ~below}
    return {name: value.astype(np.uint32) for name, value in found.items()}

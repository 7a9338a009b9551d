"""Reading operands: closures from a warp to the values of a source in its lanes.

Everything that is known at decode time (literals, constants, negation of either) becomes a read-only array; uniform
registers are arrays of one element and take part in lane arithmetic by broadcasting.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np

from warpfile.compiler.model import Address, Constant, File, Function, Immediate, Operand, Predicate, Register
from warpfile.compiler.operands import roles
from warpfile.emulator.constants import ConstantBanks
from warpfile.emulator.lanes import ALL, LANES, mask_of
from warpfile.emulator.warp import Warp

Fetch = Callable[[Warp], np.ndarray]
Bits = Callable[[Warp], int]

#: How a listing comes to show what its text hides.
SHOWING = "make the listing with 'nvdisasm -hex FILE.cubin'"
#: Marks of registers that hold two values of single precision, or one that stands for two.
PAIRED = "F32x2 HI_LO LO_HI F32"
#: Of a pair, which word is the lower one of the operand.
_FIRST = {("F32x2", "HI_LO"): 0, ("F32x2", "LO_HI"): 1}
_SIGN32 = np.uint32(1 << 31)


class SourceReader:
    """One instruction with its operands by role."""

    def __init__(self, function: Function, index: int, banks: ConstantBanks) -> None:
        self.function = function
        self.index = index
        self.instruction = function.instructions[index]
        self.banks = banks
        self.modifiers = self.instruction.modifiers
        self.width = 1 if self.instruction.opcode.startswith(("U", "LDCU")) else LANES
        parts = roles(self.instruction)
        self.dest, self.predicate_dests, self.sources = parts.dest, parts.predicate_dests, parts.sources
        #: Second predicate that is taken for a part of the guard; traces keep those of BRA and BREAK apart.
        self.condition = None if self.instruction.opcode in ("BRA", "BREAK") else self.instruction.condition
        if self.condition is not None:
            self.sources = self.sources[1:]
        self.read: set[int] = set()
        self.written_predicates: set[int] = set()

    def operand(self, position: int) -> Operand:
        """A source operand, which counts as read."""
        self.read.add(position)
        return self.sources[position]

    def check_complete(self, marks: frozenset[str]) -> None:
        """No register, constant or predicate of the text may have been left out, nor a mark be unknown."""
        for position, operand in enumerate(self.sources):
            is_constant = isinstance(operand, Predicate) and operand.is_true
            is_value = isinstance(operand, (Register, Constant, Predicate, Address))
            if is_value and not is_constant and position not in self.read:
                raise ValueError(f"source {position + 1} has no meaning here")
            for mark in operand.marks if isinstance(operand, Register) else ():
                if mark not in marks:
                    raise ValueError(f"mark .{mark} of source {position + 1} cannot be executed")
        for position, predicate in enumerate(self.predicate_dests):
            if not predicate.is_true and position not in self.written_predicates:
                raise ValueError(f"predicate result {position + 1} has no meaning here")

    def has(self, *modifiers: str) -> bool:
        """Whether any of the modifiers is present."""
        return any(modifier in self.modifiers for modifier in modifiers)

    def one_of(self, default: str, *modifiers: str) -> str:
        """The modifier that is present, or the default."""
        return next((modifier for modifier in modifiers if modifier in self.modifiers), default)

    def predicate_count(self) -> int:
        """Predicates at the end of the sources."""
        count = 0
        for operand in reversed(self.sources):
            if not isinstance(operand, Predicate):
                break
            count += 1
        return count

    def literal(self, position: int) -> int | None:
        """Bits of a literal source or None."""
        operand = self.operand(position)
        if isinstance(operand, Immediate) and isinstance(operand.value, int):
            return operand.value & ALL
        return None

    def known(self, bits: int) -> np.ndarray:
        """Read-only array with one value in all lanes."""
        array = np.full(self.width, bits & ALL, dtype=np.uint32)
        array.flags.writeable = False
        return array

    def raw(self, position: int) -> Fetch:
        """Bits of a 32-bit source without its sign marks."""
        return self._bits32(self.operand(position))

    def source(self, position: int) -> Fetch:
        """Integer source: ``-`` is two's complement, ``~`` inverts, ``|x|`` is the signed magnitude."""
        operand = self.operand(position)
        fetch = self._bits32(operand)
        if getattr(operand, "absolute", False):
            fetch = _mapped(fetch, lambda x: np.abs(x.view(np.int32)).view(np.uint32), operand)
        if getattr(operand, "negate", False):
            fetch = _mapped(fetch, np.negative, operand)
        if getattr(operand, "invert", False):
            fetch = _mapped(fetch, np.invert, operand)
        return fetch

    def signed(self, position: int) -> Fetch:
        """Integer source as ``int32``."""
        fetch = self.source(position)
        return lambda warp: fetch(warp).view(np.int32)

    def float32(self, position: int, flush: bool = False) -> Fetch:
        """Single-precision source with its sign marks; ``flush`` makes denormals zero (FTZ)."""
        operand = self.operand(position)
        fetch = _mapped(self._bits32(operand), lambda x: x.view(np.float32), operand)
        fetch = _signed_float(fetch, operand)
        return _mapped(fetch, flushed, operand) if flush else fetch

    def half_of_pair(self, position: int, half: int, flush: bool) -> Fetch:
        """Single-precision word 0 or 1 of a pair of them: swapped with .LO_HI, one word for both with .F32."""
        operand = self.operand(position)
        marks = operand.marks if isinstance(operand, Register) else ()
        if marks == ("F32",):
            return self.float32(position, flush)
        if marks not in _FIRST:
            raise ValueError(f"source {position + 1} must be a register with .F32, .F32x2.HI_LO or .F32x2.LO_HI")
        word, pair = half ^ _FIRST[marks], self._bits64(operand)
        fetch = _signed_float(lambda warp: pair(warp).view(np.float32)[word::2], operand)
        return _mapped(fetch, flushed, operand) if flush else fetch

    def pair(self, position: int) -> Fetch:
        """64-bit source as ``uint64``, with two's complement for ``-``."""
        operand = self.operand(position)
        fetch = self._bits64(operand)
        if getattr(operand, "negate", False):
            fetch = _mapped(fetch, np.negative, operand)
        return _mapped(fetch, np.invert, operand) if getattr(operand, "invert", False) else fetch

    def float64(self, position: int) -> Fetch:
        """Double-precision source with its sign marks, which leave NaN as it is."""
        operand = self.operand(position)
        plain = _mapped(self._bits64(operand), lambda x: x.view(np.float64), operand)
        signed = _signed_float(plain, operand)
        return plain if signed is plain else lambda warp: np.where(np.isnan(plain(warp)), plain(warp), signed(warp))

    def predicate(self, position: int) -> Bits:
        """Predicate source as a lane mask; a register marked .SIGN stands for its sign."""
        operand = self.operand(position)
        if isinstance(operand, Register) and "SIGN" in operand.marks:
            word = self._bits32(operand)
            return lambda warp: mask_of(np.broadcast_to(word(warp), (LANES,)) >> np.uint32(31) != 0)
        if not isinstance(operand, Predicate):
            raise ValueError(f"source {position + 1} must be a predicate")
        number, flip = operand.number, ALL if operand.negate else 0
        if operand.is_true:
            return lambda warp: ALL ^ flip
        if operand.uniform:
            return lambda warp: warp.uniform_predicates[number] ^ flip
        return lambda warp: warp.predicates[number] ^ flip

    def _bits32(self, operand: Operand) -> Fetch:
        if isinstance(operand, Register):
            return _register(operand)
        if isinstance(operand, Immediate):
            return _constant(self.known(float32_bits(operand)))
        if isinstance(operand, Constant) and operand.index is None and operand.bank_register is None:
            return _constant(self.known(self.banks.read(operand.bank, operand.offset, 4)))
        raise ValueError("operand must be a register, a literal or a constant")

    def _bits64(self, operand: Operand) -> Fetch:
        if isinstance(operand, Register):
            return register_pair(operand)
        if isinstance(operand, Immediate):
            return _constant(np.full(self.width, float64_bits(operand), dtype=np.uint64))
        if isinstance(operand, Constant) and operand.index is None and operand.bank_register is None:
            value = self.banks.read(operand.bank, operand.offset, 8)
            return _constant(np.full(self.width, value, dtype=np.uint64))
        raise ValueError("operand must be a register pair, a literal or a constant")


def float32_bits(operand: Immediate) -> int:
    """Bits of a literal of a 32-bit operand."""
    if isinstance(operand.value, int):
        return operand.value & ALL
    if operand.bits is not None:
        return operand.bits
    if operand.value != operand.value:
        return 0x7FFFFFFF
    return int(np.float32(operand.value).view(np.uint32))


def float64_bits(operand: Immediate) -> int:
    """Bits of a literal of a 64-bit operand; the encoding only holds the upper word of a double."""
    if isinstance(operand.value, int):
        return operand.value & 0xFFFF_FFFF_FFFF_FFFF
    if operand.bits is not None:
        return operand.bits << 32
    if operand.hides_bits:
        raise ValueError(f"literal must show its bits, {operand.text} does not; {SHOWING}")
    bits = struct.unpack("<Q", struct.pack("<d", operand.value))[0]
    return (bits + (1 << 31)) >> 32 << 32


def flushed(values: np.ndarray) -> np.ndarray:
    """Denormals replaced by zeros of the same sign (FTZ)."""
    bits = values.view(np.uint32)
    return np.where(bits & 0x7F800000, bits, bits & _SIGN32).view(np.float32)


def _constant(array: np.ndarray) -> Fetch:
    array.flags.writeable = False
    return lambda warp: array


def _mapped(fetch: Fetch, function: Callable[[np.ndarray], np.ndarray], operand: Operand) -> Fetch:
    """``function`` of the source; computed once where the operand never changes."""
    if not isinstance(operand, Register) or operand.is_zero:
        dummy: Warp = None  # type: ignore[assignment]
        if not isinstance(operand, Register):
            return _constant(np.array(function(fetch(dummy))))
    return lambda warp: function(fetch(warp))


def _signed_float(fetch: Fetch, operand: Operand) -> Fetch:
    if getattr(operand, "absolute", False):
        fetch = _mapped(fetch, np.abs, operand)
    return _mapped(fetch, np.negative, operand) if getattr(operand, "negate", False) else fetch


def _register(register: Register) -> Fetch:
    number = register.number
    if register.file is File.UNIFORM:
        return lambda warp: warp.uniforms[number]
    return lambda warp: warp.registers[number]


def register_pair(register: Register) -> Fetch:
    """Two consecutive registers as one ``uint64``."""
    number = register.number
    if register.is_zero:
        zero = np.zeros(LANES if register.file is File.GENERAL else 1, dtype=np.uint64)
        return _constant(zero)
    if register.file is File.UNIFORM:
        return lambda warp: np.ascontiguousarray(warp.uniforms[number : number + 2].T).view(np.uint64)[:, 0]
    return lambda warp: np.ascontiguousarray(warp.registers[number : number + 2].T).view(np.uint64)[:, 0]

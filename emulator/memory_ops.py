"""Loads and stores of global, shared, local and constant memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpfile.compiler.model import Address, Constant, Register
from warpfile.compiler.operand_widths import access_bytes, address_registers, data_registers
from warpfile.emulator.constants import BANK_STRIDE
from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.errors import ExecutionError, MemoryFault
from warpfile.emulator.lanes import ALL, LANES, indices_of, lanes_of, mask_of
from warpfile.emulator.memory import Region
from warpfile.emulator.source import Fetch, register_pair
from warpfile.emulator.warp import Run, Warp
from warpfile.emulator.windows import generic_parts, global_parts, local_parts, shared_parts, space_of

_WIDTHS = "E U U8 S8 U16 S16 32 64 128 ZXC"
_WORD_MASK = np.uint64(0xFFFFFFFF)

Access = Callable[[Warp, np.ndarray, np.ndarray], None]


def address_of(decoder: Decoder, operand: object) -> Fetch:
    """Byte addresses of all lanes as ``uint64[32]``."""
    if not isinstance(operand, Address):
        raise ValueError("operand must be an address")
    is_shared = decoder.instruction.opcode == "LDGSTS" and operand is decoder.sources[0]
    wide = "E" in decoder.modifiers and not is_shared
    general, uniform = address_registers(decoder.instruction, operand)
    terms = []
    if operand.base is not None and not operand.base.is_zero:
        terms.append(_base(operand.base, general, operand.scale))
    if operand.uniform is not None and not operand.uniform.is_zero:
        terms.append(_base(operand.uniform, uniform, 1))
    offset = np.full(LANES, operand.offset % (1 << 64), dtype=np.uint64)

    def total(warp: Warp) -> np.ndarray:
        value = offset
        for term in terms:
            value = value + term(warp)
        return value

    return total if wide else lambda warp: total(warp) & _WORD_MASK


def _base(register: Register, count: int, scale: int) -> Fetch:
    if count == 2:
        return register_pair(register)
    number, factor = register.number, np.uint64(scale)
    if register.file.value == "UR":
        return lambda warp: warp.uniforms[number].astype(np.uint64)
    return lambda warp: warp.registers[number].astype(np.uint64) * factor


def at(decoder: Decoder, address: Fetch, act: Access) -> Run:
    """Run ``act(warp, addresses, lanes)`` for the executing lanes and leave the addresses for the record."""
    place = f"{decoder.instruction.offset:#06x} {decoder.instruction.text!r}"

    def run(warp: Warp, mask: int) -> None:
        every = address(warp)
        lanes = indices_of(mask)
        if mask == ALL:
            warp.address = every
            chosen = every
        else:
            warp.address = np.where(lanes_of(mask), every, np.uint64(0))
            chosen = every[lanes]
        try:
            act(warp, chosen, lanes)
        except MemoryFault as fault:
            lane = int(lanes[fault.position])
            where = f"{warp.name}: instruction {place}, lane {lane}"
            raise ExecutionError(f"{where}: address {fault.address:#x} {fault.reason}") from None

    return run


@opcode("QSPC", "E S G L C")
def query_space(decoder: Decoder) -> Run:
    """QSPC.E.space p, RZ, [address]: whether generic addresses mean that space (Shared, Local, Global)."""
    if decoder.dest is not None and not decoder.dest.is_zero:
        raise ValueError("QSPC must have no result but the predicate")
    address, write, space = address_of(decoder, decoder.operand(0)), decoder.predicate_writer(0), decoder.modifiers[-1]

    def run(warp: Warp, mask: int) -> None:
        found = space_of(address(warp)) == space
        if write is not None:
            write(warp, mask, mask_of(found))

    return run


def _narrow(decoder: Decoder) -> str:
    return decoder.one_of("", "U8", "S8", "U16", "S16")


_PARTS = {
    "LDG": global_parts,
    "STG": global_parts,
    "LD": generic_parts,
    "ST": generic_parts,
    "LDS": shared_parts,
    "STS": shared_parts,
    "LDL": local_parts,
    "STL": local_parts,
}


@opcode("LDG LD LDS LDL", _WIDTHS)
def load(decoder: Decoder) -> Run:
    """LDx d, [address]."""
    mark, size, count = _narrow(decoder), access_bytes(decoder.instruction), data_registers(decoder.instruction)
    put, parts = _register_writer(decoder, count), _PARTS[decoder.instruction.opcode]

    def act(warp: Warp, addresses: np.ndarray, lanes: np.ndarray) -> None:
        for region, offsets, chosen in parts(warp, addresses, lanes, size):
            put(warp, lanes[chosen], region.load(offsets, mark, count))

    return at(decoder, address_of(decoder, decoder.operand(0)), act)


@opcode("STG ST STS STL", _WIDTHS)
def store(decoder: Decoder) -> Run:
    """STx [address], data."""
    mark, size, count = _narrow(decoder), access_bytes(decoder.instruction), data_registers(decoder.instruction)
    get, parts = _register_reader(decoder, 1, count), _PARTS[decoder.instruction.opcode]

    def act(warp: Warp, addresses: np.ndarray, lanes: np.ndarray) -> None:
        for region, offsets, chosen in parts(warp, addresses, lanes, size):
            region.store(offsets, get(warp, lanes[chosen]), mark, count)

    return at(decoder, address_of(decoder, decoder.operand(0)), act)


@opcode("LDGSTS", "E BYPASS LTC64B LTC128B LTC256B 32 64 128")
def copy(decoder: Decoder) -> Run:
    """LDGSTS [shared], [global], [p]: a copy, at once; zeros where p is false. The trace has the global address."""
    size, count = access_bytes(decoder.instruction), data_registers(decoder.instruction)
    shared = address_of(decoder, decoder.operand(0))
    fills = decoder.predicate(2) if len(decoder.sources) > 2 else (lambda warp: ALL)

    def act(warp: Warp, addresses: np.ndarray, lanes: np.ndarray) -> None:
        taken = lanes_of(fills(warp))[lanes]
        words = np.zeros((len(lanes), count), dtype=np.uint32)
        if taken.any():
            positions = np.flatnonzero(taken)
            for region, offsets, chosen in global_parts(warp, addresses[taken], lanes[taken], size):
                words[positions[chosen]] = region.load(offsets, "", count).reshape(-1, count)
        places = warp.shared.check(shared(warp)[lanes], size)
        warp.shared.store(places, words if count > 1 else words[:, 0], "", count)

    return at(decoder, address_of(decoder, decoder.operand(1)), act)


def _register_writer(decoder: Decoder, count: int) -> Callable[[Warp, np.ndarray, np.ndarray], None]:
    """Write loaded words to the lanes of the destination registers."""
    if decoder.dest is None or decoder.dest.is_zero:
        return lambda warp, lanes, words: None
    row = decoder.dest.number

    def put_one(warp: Warp, lanes: np.ndarray, words: np.ndarray) -> None:
        if len(lanes) == LANES:
            warp.registers[row] = words
        else:
            warp.registers[row, lanes] = words

    def put_many(warp: Warp, lanes: np.ndarray, words: np.ndarray) -> None:
        warp.registers[row : row + count, lanes] = words.T

    return put_one if count == 1 else put_many


def _register_reader(decoder: Decoder, position: int, count: int) -> Callable[[Warp, np.ndarray], np.ndarray]:
    """Read the lanes of the data registers: ``[k]`` for one, ``[k, count]`` for more."""
    operand = decoder.operand(position)
    if not isinstance(operand, Register):
        raise ValueError("data must be a register")
    row = operand.number
    if count == 1:
        return lambda warp, lanes: warp.registers[row, lanes]
    if operand.is_zero:
        return lambda warp, lanes: np.zeros((len(lanes), count), dtype=np.uint32)
    return lambda warp, lanes: warp.registers[row : row + count, lanes].T


@opcode("LDC", "U8 S8 U16 S16 64 IL")
def load_constant(decoder: Decoder) -> Run:
    """LDC d, c[bank][index + offset]; the trace's address is bank * 64 KiB plus the offset."""
    operand = decoder.operand(0)
    if not isinstance(operand, Constant) or operand.bank_register is not None:
        raise ValueError("source must be a constant with a numbered bank")
    mark, size, count = _narrow(decoder), access_bytes(decoder.instruction), data_registers(decoder.instruction)
    region, address = _constant_region(decoder, operand), _constant_address(operand, LANES)
    put = _register_writer(decoder, count)

    def act(warp: Warp, addresses: np.ndarray, lanes: np.ndarray) -> None:
        put(warp, lanes, region.load(region.check(addresses, size), mark, count))

    return at(decoder, address, act)


def _constant_region(decoder: Decoder, operand: Constant) -> Region:
    base = operand.bank * BANK_STRIDE
    return Region(f"constant bank {operand.bank:#x}", base, decoder.banks.bank(operand.bank))


def _constant_address(operand: Constant, width: int) -> Fetch:
    """Trace addresses of a constant. A negative offset means one above 0x7fff where the sum stays below zero."""
    base, offset, index = operand.bank * BANK_STRIDE, operand.offset, operand.index

    def address(warp: Warp) -> np.ndarray:
        place = np.full(width, offset, dtype=np.int64)
        if index is not None:
            rows = warp.uniforms if index.file.value == "UR" else warp.registers
            place = place + rows[index.number].view(np.int32)
        if offset < 0:
            place = np.where(place < 0, place + BANK_STRIDE, place)
        return (place & 0xFFFFFFFF).astype(np.uint64) + np.uint64(base)

    return address


@opcode("ULDC LDCU", "U8 S8 U16 S16 64 128")
def uniform_load_constant(decoder: Decoder) -> Run:
    """ULDC[.64] UR, c[bank][UR + offset]; LDCU is sm_100's name for it."""
    operand = decoder.operand(0)
    if not isinstance(operand, Constant) or operand.bank_register is not None:
        raise ValueError("source must be a constant with a numbered bank")
    mark = _narrow(decoder)
    if operand.index is None and not mark and not decoder.has("128"):
        return decoder.result64(decoder.pair(0)) if decoder.has("64") else decoder.result(decoder.source(0))
    size, count = access_bytes(decoder.instruction), data_registers(decoder.instruction)
    region, address = _constant_region(decoder, operand), _constant_address(operand, 1)
    row = decoder.dest.number if decoder.dest and not decoder.dest.is_zero else None
    place = f"{decoder.instruction.offset:#06x} {decoder.instruction.text!r}"

    def run(warp: Warp, mask: int) -> None:
        try:
            words = region.load(region.check(address(warp), size), mark, count)
        except MemoryFault as fault:
            reason = f"address {fault.address:#x} {fault.reason}"
            raise ExecutionError(f"{warp.name}: instruction {place}: {reason}") from None
        if row is not None:
            warp.uniforms[row : row + count, 0] = words.ravel()

    return run

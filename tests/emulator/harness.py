"""Runs a few lines of SASS on one warp whose registers are given."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpfile.compiler import parse
from warpfile.emulator import families  # noqa: F401  registers the opcodes
from warpfile.emulator.constants import ConstantBanks
from warpfile.emulator.decode import decode
from warpfile.emulator.lanes import ALL
from warpfile.emulator.memory import Region
from warpfile.emulator.record import ValueStore
from warpfile.emulator.special import special_registers
from warpfile.emulator.warp import Warp

LANE = np.arange(32, dtype=np.uint32)


def listing(code: str, name: str = "k") -> str:
    """Text of a listing with one function; lines ending in ``:`` are labels. An EXIT and the padding are added."""
    lines, offset = [f'\t.section\t.text.{name},"ax",@progbits', f"{name}:"], 0
    for line in [*code.strip().splitlines(), "EXIT", "pad:", "BRA `(pad)"]:
        line = line.strip()
        if line.endswith(":"):
            lines.append(line)
        elif line:
            lines.append(f"        /*{offset:04x}*/                   {line} ;")
            offset += 16
    return "\n".join(lines) + "\n"


def f32(*values: float) -> np.ndarray:
    """Single-precision bits of values, repeated over the 32 lanes."""
    return np.resize(np.array(values, dtype=np.float32), 32).view(np.uint32)


def words(*values: int) -> np.ndarray:
    """Words repeated over the 32 lanes; negative ones in two's complement."""
    return np.resize(np.array([value & ALL for value in values], dtype=np.uint32), 32)


def run(
    code: str,
    registers: Mapping[int, np.ndarray] | None = None,
    predicates: Mapping[int, int] | None = None,
    live: int = ALL,
    constants: bytes = bytes(0x200),
    shared: int = 256,
    limit: int = 10_000,
    buffer: bytes = b"",
) -> Warp:
    """Execute a listing's code to the end of the warp. ``buffer`` lies at the start of global memory."""
    function = parse(listing(code), "test.sass").functions["k"]
    with np.errstate(all="ignore"):
        steps, _ = decode(function, ConstantBanks({0: constants}), "test.sass")
        warp = Warp(steps, live, ValueStore(), "k")
        warp.allowed = limit
        warp.special = special_registers(0, (32, 1, 1), (0, 0, 0))
        warp.shared = Region("shared memory", 0, shared)
        if buffer:
            warp.global_memory.add("buffer", buffer)
        for number, values in (registers or {}).items():
            warp.registers[number] = values
        for number, mask in (predicates or {}).items():
            warp.predicates[number] = mask
        while not warp.is_finished:
            warp.run()
    return warp


def result(code: str, registers: Mapping[int, np.ndarray] | None = None, **given: object) -> np.ndarray:
    """R0 after executing the code."""
    return run(code, registers, **given).registers[0]  # type: ignore[arg-type]


def double(value: float) -> tuple[np.ndarray, np.ndarray]:
    """Low and high words of a double in all lanes."""
    bits = int(np.float64(value).view(np.uint64))
    return words(bits & ALL), words(bits >> 32)


def doubles(warp: Warp, register: int) -> np.ndarray:
    """A register pair as doubles."""
    return np.ascontiguousarray(warp.registers[register : register + 2].T).view(np.float64)[:, 0]

"""Recorder of stress traces: executes static instructions with random masks, values and addresses."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from warpfile.spec.config import LINE_BYTES
from warpfile.spec.stress.program import Profile
from warpfile.spec.trace import LANES, NO_ROW, Access, Kind, Port, Space, StaticInstruction, Trace

SHARED_BYTES = 2048
#: Bits of random results, of wide ones, and of ones with a byte or two and their signs.
WIDTHS: tuple[int, ...] = (1, 8, 16, 24, 32, 32)
WIDE: tuple[int, ...] = (32,)
NARROW: tuple[int, ...] = (7, 15, 15)
_FULL = (1 << LANES) - 1
_WITHOUT_ADDRESSES = (Space.NONE, Space.CONSTANT, Space.TEXTURE)
#: What writes a register: a slow result first, then one of each port.
WRITERS = ((Port.LSU, Space.GLOBAL), (Port.ALU, Space.NONE), (Port.SFU, Space.NONE), (Port.LSU, Space.SHARED))


def writer(port: Port, space: Space, register: int) -> StaticInstruction:
    """An instruction of a port that writes one register; those of memory load it."""
    load: dict[str, Any] = {"space": space, "access": Access.LOAD, "bytes": 4} if port is Port.LSU else {}
    return stress_instruction(port, dest=register, dest_count=1, **load)


def stress_instruction(port: Port, kind: Kind = Kind.NORMAL, **fields: Any) -> StaticInstruction:
    """An instruction without operands except for ``fields``."""
    return StaticInstruction(0, "EXIT" if kind is Kind.EXIT else "STRESS", "STRESS", port, kind, **fields)


BARRIER = stress_instruction(Port.NONE, kind=Kind.BARRIER)
EXIT = stress_instruction(Port.NONE, kind=Kind.EXIT)


def writers(registers: int) -> list[StaticInstruction]:
    """Every one of ``WRITERS`` for each register: writer w of register r is at place w * ``registers`` + r."""
    return [writer(port, space, register) for port, space in WRITERS for register in range(registers)]


def readers(registers: int) -> list[StaticInstruction]:
    """An instruction for each register that reads it."""
    return [stress_instruction(Port.ALU, sources=(register,)) for register in range(registers)]


def placed(instructions: Iterable[StaticInstruction]) -> list[StaticInstruction]:
    """A program of these instructions, one behind the other."""
    return [replace(static, offset=16 * place) for place, static in enumerate(instructions)]


class Recorder:
    """Executes warps and collects the arrays of a trace."""

    def __init__(self, rng: random.Random, profile: Profile, program: list[StaticInstruction], registers: int) -> None:
        self._rng = rng
        self._lanes = np.random.default_rng(rng.getrandbits(63))
        self._profile = profile
        self._program = program
        self._registers = registers
        self.instruction: list[int] = []
        self._active: list[int] = []
        self._execute: list[int] = []
        self._live: list[int] = []
        self._value_row: list[int] = []
        self._address_row: list[int] = []
        self._values: list[np.ndarray] = []
        self._written: list[int] = []
        self._widths = WIDTHS
        self._addresses: list[np.ndarray] = []

    def warp(self, length: int) -> None:
        """Record one warp from a random place of the program to its EXIT."""
        rng, last = self._rng, len(self._program) - 1
        self._content = np.zeros((self._registers, LANES), dtype=np.uint32)
        self._ever = [0] * self._registers
        live = rng.choice((_FULL, _FULL, 1, rng.getrandbits(LANES) | 1))
        end = len(self.instruction) + rng.randint(1, length)
        position = rng.randint(0, last)
        while live:
            static = self._program[position]
            active, execute = self._masks(static, live, position == last)
            self._record(position, active, execute, live)
            position += 1
            if static.opcode.startswith("EXIT"):
                live &= ~execute
            elif static.kind == Kind.BRANCH:
                if len(self.instruction) >= end:
                    position = last
                elif rng.random() < 0.5 or position == last:
                    position = rng.randrange(last)

    def path(self, positions: Sequence[int], widths: Sequence[tuple[int, ...]] = ()) -> None:
        """Record one warp that goes through these places with all lanes; ``widths``: of the first results."""
        self._content = np.zeros((self._registers, LANES), dtype=np.uint32)
        self._ever = [0] * self._registers
        for step, position in enumerate(positions):
            self._widths = widths[step] if step < len(widths) else WIDTHS
            self._record(position, _FULL, _FULL, _FULL)

    def _masks(self, static: StaticInstruction, live: int, final: bool) -> tuple[int, int]:
        """SIMT mask and execution mask of the next instruction."""
        rng, profile = self._rng, self._profile
        if final or (static.kind == Kind.EXIT and live & (live - 1) == 0):
            return live, live
        active = live
        if rng.random() < profile.divergent:
            active = live & rng.getrandbits(LANES) or live & -live
        guarded = static.token_reads & 0x7F and static.kind != Kind.EXIT
        execute = active & rng.choice((0, rng.getrandbits(LANES), _FULL)) if guarded else active
        if static.opcode.startswith("EXIT") and execute == live:
            execute &= execute - 1  # some lane must stay for the rest of the stream
            active = active if guarded else execute
        return active, execute

    def _record(self, position: int, active: int, execute: int, live: int) -> None:
        static = self._program[position]
        self.instruction.append(position)
        self._active.append(active)
        self._execute.append(execute)
        self._live.append(live)
        writes, touches = static.dest_count and execute, static.space not in _WITHOUT_ADDRESSES and execute
        self._value_row.append(len(self._values) if writes else NO_ROW)
        self._address_row.append(len(self._addresses) if touches else NO_ROW)
        lanes = (execute >> np.arange(LANES)) & 1 != 0
        if writes:
            for register in static.dests:
                self._result(register, execute, lanes)
        if touches:
            self._addresses.append(np.where(lanes, self._lane_addresses(static), 0).astype(np.uint64))

    def _result(self, register: int, execute: int, lanes: np.ndarray) -> None:
        """New content of a register: random lanes of random width, the other lanes as they were."""
        fresh = self._lanes.integers(0, 1 << self._rng.choice(self._widths), LANES, dtype=np.uint64)
        self._content[register] = np.where(lanes, fresh, self._content[register])
        self._ever[register] |= execute
        self._values.append(self._content[register].copy())
        self._written.append(self._ever[register])

    def _lane_addresses(self, static: StaticInstruction) -> np.ndarray:
        """One address per lane: consecutive, all equal, or each in a line of its own."""
        rng, size = self._rng, static.bytes
        if static.space == Space.SHARED:
            return np.asarray(self._lanes.integers(0, SHARED_BYTES // size, LANES) * size)
        base = rng.randrange(64) * LINE_BYTES
        stride = rng.choice((size, size, 0, LINE_BYTES, 4 * LINE_BYTES))
        return np.asarray(base + np.arange(LANES) * stride)

    def trace(
        self,
        name: str,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        warp_start: list[int],
        warp_cta: list[int],
    ) -> Trace:
        """What was recorded."""
        named = [register for i in self._program for register in (*i.sources, *i.dests)]
        return Trace(
            kernel=name,
            grid=grid,
            block=block,
            shared_bytes=SHARED_BYTES,
            registers=max(named, default=0) + 1,
            source="emulated",
            listing="",
            program=tuple(self._program),
            warp_start=np.array(warp_start, dtype=np.int64),
            warp_cta=np.array(warp_cta, dtype=np.int32),
            instruction=np.array(self.instruction, dtype=np.int32),
            active=np.array(self._active, dtype=np.uint32),
            execute=np.array(self._execute, dtype=np.uint32),
            live=np.array(self._live, dtype=np.uint32),
            value_row=np.array(self._value_row, dtype=np.int64),
            values=np.array(self._values, dtype=np.uint32).reshape(-1, LANES),
            written=np.array(self._written, dtype=np.uint32),
            address_row=np.array(self._address_row, dtype=np.int64),
            addresses=np.array(self._addresses, dtype=np.uint64).reshape(-1, LANES),
        )

"""Programs that are executed while they are written down: registers, memory by bytes, and the trace of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from warpfile.spec.trace import LANES, NO_ROW, Access, Kind, Port, Space, StaticInstruction, Trace

FULL = (1 << LANES) - 1
_WORD = (1 << 32) - 1


def _op(sources: Sequence[int] = (), dest: int | None = None, **more: Any) -> StaticInstruction:
    values: dict[str, Any] = {"port": Port.ALU, "kind": Kind.NORMAL, "opcode": "TEST", "text": "TEST"} | more
    if dest is not None:
        values |= {"dest": dest, "dest_count": 1}
    return StaticInstruction(offset=0, sources=tuple(sources), **values)


_BARRIER = _op(port=Port.NONE, kind=Kind.BARRIER, text="BAR")
_FENCE = _op(port=Port.NONE, opcode="MEMBAR.SC.GPU", text="MEMBAR.SC.GPU")
_EXIT = _op(port=Port.NONE, kind=Kind.EXIT, text="EXIT")


@dataclass
class Step:
    """An executed instruction: lanes before the guard and behind it, what it writes, where it goes in memory."""

    static: StaticInstruction
    active: int
    execute: int
    values: list[list[int]] = field(default_factory=list)
    written: list[int] = field(default_factory=list)  #: of each value, the lanes that were ever written
    addresses: list[int] | None = None
    stored: dict[int, int] = field(default_factory=dict)  #: by byte


@dataclass
class Memory:
    """Bytes; those never written are as their address says."""

    written: dict[int, int] = field(default_factory=dict)

    def load(self, address: int) -> int:
        """Four bytes."""
        return sum(self.written.get(address + k, (address + k) * 167 >> 3 & 255) << 8 * k for k in range(4))

    def store(self, address: int, value: int, size: int) -> dict[int, int]:
        """So many bytes, which it returns."""
        stored = {address + k: value >> 8 * k & 255 for k in range(size)}
        self.written |= stored
        return stored


class WarpProgram:
    """One warp. ``mask``: the lanes that execute, all live ones without; others are predicated off, or ``diverged``."""

    def __init__(self, memory: Memory, live: int = FULL) -> None:
        self.live, self.steps = live, list[Step]()
        self._memory = memory
        self._registers: dict[int, list[int]] = {}
        self._ever: dict[int, int] = {}

    def value(self, register: int) -> list[int]:
        """What a register holds, by lane."""
        return list(self._registers.get(register, [0] * LANES))

    def _add(self, static: StaticInstruction, mask: int | None, diverged: bool) -> Step:
        execute = self.live if mask is None else mask & self.live
        step = Step(static, execute if diverged else self.live, execute)
        self.steps.append(step)
        return step

    def _write(self, step: Step, register: int, values: Sequence[int]) -> None:
        merged = [
            v if step.execute >> lane & 1 else old
            for lane, (v, old) in enumerate(zip(values, self.value(register), strict=True))
        ]
        if step.execute:
            self._registers[register] = merged
            self._ever[register] = self._ever.get(register, 0) | step.execute
            step.values.append(merged)
            step.written.append(self._ever[register])

    def put(
        self,
        dest: int,
        values: Sequence[int],
        sources: Sequence[int] = (),
        mask: int | None = None,
        diverged: bool = False,
        port: Port = Port.ALU,
    ) -> None:
        """An instruction that writes these values."""
        step = self._add(_op(sources, dest, port=port), mask, diverged)
        self._write(step, dest, [value & _WORD for value in values])

    def get(self, *sources: int) -> None:
        """An instruction that reads and writes nothing."""
        self._add(_op(sources), None, False)

    def address(self, pair: int, at: int, stride: int = 4) -> None:
        """Two registers become an address that grows from lane to lane."""
        whole = [at + lane * stride for lane in range(LANES)]
        self.put(pair, whole)
        self.put(pair + 1, [a >> 32 for a in whole])

    def addresses(self, registers: Sequence[int], offset: int) -> list[int]:
        """Where an access goes, lane by lane."""
        parts = [self.value(register) for register in registers]
        values = [sum(part[lane] << 32 * k for k, part in enumerate(parts)) for lane in range(LANES)]
        return [value + offset & (1 << 48) - 1 for value in values]

    def load(
        self,
        dest: int,
        registers: Sequence[int],
        offset: int = 0,
        mask: int | None = None,
        diverged: bool = False,
        opcode: str = "LDG.E",
    ) -> None:
        """A load of a word per lane."""
        static = _op(
            registers, dest, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD, bytes=4, opcode=opcode, text=opcode
        )
        step = self._add(static, mask, diverged)
        step.addresses = self.addresses(registers, offset)
        self._write(step, dest, [self._memory.load(address) for address in step.addresses])

    def store(
        self, registers: Sequence[int], data: Sequence[int], offset: int = 0, size: int = 4, mask: int | None = None
    ) -> None:
        """A store of the low bytes of these registers."""
        static = _op(
            (*registers, *data), port=Port.LSU, space=Space.GLOBAL, access=Access.STORE, bytes=size, opcode="STG.E"
        )
        step = self._add(static, mask, False)
        step.addresses = self.addresses(registers, offset)
        parts = [self.value(register) for register in data]
        for lane in range(LANES):
            if step.execute >> lane & 1:
                value = sum(part[lane] << 32 * k for k, part in enumerate(parts))
                step.stored |= self._memory.store(step.addresses[lane], value, size)

    def surface(self) -> None:
        """A store to an unknown address."""
        self._add(_op(port=Port.LSU, space=Space.TEXTURE, access=Access.STORE, opcode="SUST"), None, False)

    def fence(self) -> None:
        """Order memory for the whole device."""
        self._add(_FENCE, None, False)

    def barrier(self) -> None:
        """Wait for the other warps."""
        self._add(_BARRIER, None, False)


def trace_of(warps: Sequence[WarpProgram], ctas: Sequence[int] | None = None) -> Trace:
    """A trace of these warps, each ended by an EXIT."""
    streams = [[*warp.steps, Step(_EXIT, warp.live, warp.live)] for warp in warps]
    steps = [step for stream in streams for step in stream]
    live = [warp.live for warp, stream in zip(warps, streams, strict=True) for _ in stream]
    places = [number for number, step in enumerate(steps) if step.addresses is not None]
    first = [0, *accumulate(len(step.values) for step in steps)]
    owners = list(ctas or [0] * len(warps))
    registers = max((r for step in steps for r in (*step.static.sources, *step.static.dests)), default=0) + 1
    return Trace(
        kernel="hand",
        grid=(max(owners) + 1, 1, 1),
        block=(LANES * owners.count(0), 1, 1),
        shared_bytes=0,
        registers=registers,
        source="emulated",
        listing="",
        program=tuple(step.static for step in steps),
        warp_start=np.array([0, *accumulate(map(len, streams))], dtype=np.int64),
        warp_cta=np.array(owners, dtype=np.int32),
        instruction=np.arange(len(steps), dtype=np.int32),
        active=_masks(step.active for step in steps),
        execute=_masks(step.execute for step in steps),
        live=_masks(live),
        value_row=np.array([at if step.values else NO_ROW for at, step in zip(first, steps, strict=False)]),
        values=np.array([v for step in steps for v in step.values], dtype=np.uint32).reshape(-1, LANES),
        written=_masks(lanes for step in steps for lanes in step.written),
        address_row=np.array([places.index(n) if s.addresses is not None else NO_ROW for n, s in enumerate(steps)]),
        addresses=np.array([steps[n].addresses for n in places], dtype=np.uint64).reshape(-1, LANES),
    )


def stores_of(warps: Sequence[WarpProgram]) -> dict[int, dict[int, int]]:
    """By record of their trace, what stores write; bytes that several warps write, in whatever order, are -1."""
    writers: dict[int, set[int]] = {}
    for number, warp in enumerate(warps):
        for byte in {byte for step in warp.steps for byte in step.stored}:
            writers.setdefault(byte, set()).add(number)
    steps = [step.stored if step else {} for warp in warps for step in (*warp.steps, None)]
    return {n: {b: v if len(writers[b]) == 1 else -1 for b, v in stored.items()} for n, stored in enumerate(steps)}


def _masks(masks: object) -> np.ndarray:
    return np.array([*masks], dtype=np.uint32)  # type: ignore[misc]

"""Execution of a launch: CTA after CTA, the warps of a CTA in turn between barriers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warpfile.emulator import families  # noqa: F401  registers the opcodes
from warpfile.emulator.arguments import parameter_bytes
from warpfile.emulator.barriers import combine_votes
from warpfile.emulator.constants import ConstantBanks, launch_bank
from warpfile.emulator.decode import decode
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.expect import Expectation, check
from warpfile.emulator.lanes import LANES
from warpfile.emulator.launch import Launch
from warpfile.emulator.memory import GlobalMemory, Region
from warpfile.emulator.record import ValueStore, WarpRecords, joined
from warpfile.emulator.special import special_registers
from warpfile.emulator.warp import Step, Warp
from warpfile.spec.trace import StaticInstruction, Trace

INSTRUCTION_LIMIT = 20_000_000
Progress = Callable[[int, int], None]  #: CTAs done, CTAs in all


@dataclass(frozen=True)
class Result:
    """What a launch left behind."""

    trace: Trace
    expectations: tuple[Expectation, ...]
    seconds: float
    buffers: dict[str, np.ndarray]  #: bytes of every buffer argument after the launch


def execute(launch: Launch, instruction_limit: int = INSTRUCTION_LIMIT, progress: Progress | None = None) -> Result:
    """Run a launch to its end.

    ``progress(done, total)`` is called after each CTA. Raises :class:`ExecutionError` for an opcode that cannot be
    executed, an access out of bounds, a deadlock, or more than ``instruction_limit`` warp instructions.
    """
    start = time.perf_counter()
    machine = _Machine(launch, instruction_limit)
    ctas = launch.grid[0] * launch.grid[1] * launch.grid[2]
    warps = ctas * -(-launch.block[0] * launch.block[1] * launch.block[2] // LANES)
    if warps > instruction_limit:
        raise ExecutionError(f"{launch.path}: grid must have at most {instruction_limit} warps, not {warps}")
    with np.errstate(all="ignore"):
        for number in range(ctas):
            machine.run_cta(number)
            if progress is not None:
                progress(number + 1, ctas)
    checked = [argument for argument in launch.arguments if argument.expect is not None]
    expectations = tuple(check(argument, machine.buffers[argument.name]) for argument in checked)
    contents = {name: region.bytes[: region.size].copy() for name, region in machine.buffers.items()}
    return Result(machine.trace(), expectations, time.perf_counter() - start, contents)


class _Machine:
    """Memories, decoded program and records of one launch."""

    def __init__(self, launch: Launch, limit: int) -> None:
        self.launch = launch
        self.limit = limit
        self.executed = 0
        self.memory = GlobalMemory()
        self.store = ValueStore()
        self.records: list[WarpRecords] = []
        self.warp_cta: list[int] = []
        self.buffers = {
            argument.name: self.memory.add(f"buffer {argument.name!r}", argument.init.tobytes())
            for argument in launch.arguments
            if argument.init is not None
        }
        self.steps, self.program = self._decode()

    def _decode(self) -> tuple[list[Step], tuple[StaticInstruction, ...]]:
        launch = self.launch
        addresses = {name: region.base for name, region in self.buffers.items()}
        parameters = parameter_bytes(launch.arguments, addresses)
        banks = {0: launch_bank(launch.grid, launch.block, parameters)}
        banks |= launch.function.constants
        if 4 in banks:
            banks[4] = self._relocated(banks[4])
        with np.errstate(all="ignore"):
            return decode(launch.function, ConstantBanks(banks), launch.listing.name)

    def _relocated(self, bank: bytes) -> bytes:
        """Bank 4 with the addresses of the module's global variables."""
        data = bytearray(bank)
        listing = self.launch.listing
        region = self.memory.add("global variables", listing.global_data)
        for offset, name in self.launch.function.relocations.items():
            if name in listing.symbols:
                address = region.base + listing.symbols[name].offset
                data[offset : offset + 8] = address.to_bytes(8, "little")
        return bytes(data)

    def run_cta(self, number: int) -> None:
        """Run one CTA to its end."""
        warps = self._warps(number)
        first = len(self.records)
        self.records.extend(warp.records for warp in warps)
        self.warp_cta.extend([number] * len(warps))
        waiting = warps
        while waiting:
            for warp in waiting:
                others = sum(map(len, self.records[first:])) - len(warp.records)
                warp.allowed = self.limit - self.executed - others
                warp.run()
            waiting = [warp for warp in waiting if not warp.is_finished]
            combine_votes(waiting)
        self.executed += sum(map(len, self.records[first:]))

    def _warps(self, number: int) -> list[Warp]:
        launch = self.launch
        grid, block = launch.grid, launch.block
        cta = (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))
        threads = block[0] * block[1] * block[2]
        shared = Region("shared memory", 0, launch.shared_bytes)
        warps = []
        for first in range(0, threads, LANES):
            live = (1 << min(LANES, threads - first)) - 1
            name = f"{launch.function.name}, CTA {number}, warp {first // LANES}"
            warp = Warp(self.steps, live, self.store, name)
            warp.special = special_registers(first // LANES, block, cta)
            warp.global_memory, warp.shared = self.memory, shared
            warps.append(warp)
        return warps

    def trace(self) -> Trace:
        """The records as a trace."""
        starts = np.cumsum([0, *map(len, self.records)], dtype=np.int64)
        launch, records = self.launch, self.records
        return Trace(
            kernel=launch.function.name,
            grid=launch.grid,
            block=launch.block,
            shared_bytes=launch.shared_bytes,
            registers=_registers(self.program),
            source="emulated",
            listing=launch.listing.text,
            program=self.program,
            warp_start=starts,
            warp_cta=np.array(self.warp_cta, dtype=np.int32),
            instruction=joined(records, "instruction", np.int32),
            active=joined(records, "active", np.uint32),
            execute=joined(records, "execute", np.uint32),
            live=joined(records, "live", np.uint32),
            value_row=joined(records, "value_row", np.int64),
            values=self.store.values.result(),
            written=np.array(self.store.written, dtype=np.uint32),
            address_row=joined(records, "address_row", np.int64),
            addresses=self.store.addresses.result(),
        )


def _registers(program: tuple[StaticInstruction, ...]) -> int:
    """Highest vector register used, plus one."""
    used = (max((*instruction.sources, *instruction.dests), default=-1) for instruction in program)
    return max(used, default=-1) + 1


__all__ = ["INSTRUCTION_LIMIT", "ExecutionError", "Expectation", "Progress", "Result", "execute"]

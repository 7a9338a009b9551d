"""Execution of a launch: CTA after CTA, the warps of a CTA in turn between barriers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warpfile.compiler.architectures import remark
from warpfile.emulator import families  # noqa: F401  registers the opcodes
from warpfile.emulator.arguments import buffers, parameter_bytes
from warpfile.emulator.barriers import combine_votes
from warpfile.emulator.constants import ConstantBanks, launch_bank, with_contents
from warpfile.emulator.decode import decode
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.expect import Expectation, check
from warpfile.emulator.lanes import LANES
from warpfile.emulator.launch import Launch
from warpfile.emulator.memory import GLOBAL_BASE, GlobalMemory, MeasuredRegion, Region
from warpfile.emulator.record import ValueStore, WarpRecords, joined
from warpfile.emulator.special import special_registers
from warpfile.emulator.spinning import Watch
from warpfile.emulator.warp import Step, Warp
from warpfile.spec.trace import StaticInstruction, Trace

INSTRUCTION_LIMIT = 20_000_000  #: warp instructions of a launch
CTA_LIMIT = 1_000_000  #: of one CTA, a few seconds to a minute: one that needs more seldom ends at all
SHARED_UNIT = 256  #: bytes in which shared memory is handed out
Progress = Callable[[int, int], None]  #: CTAs done, CTAs in all


@dataclass(frozen=True)
class Result:
    """What a launch left behind."""

    trace: Trace
    expectations: tuple[Expectation, ...]
    seconds: float
    buffers: dict[str, np.ndarray]  #: every buffer argument after the launch, with type and shape of its init


def execute(
    launch: Launch,
    instruction_limit: int | None = None,
    progress: Progress | None = None,
    repeats: int = 1,
    base: int = GLOBAL_BASE,
) -> Result:
    """Run a launch to its end, ``repeats`` times, each time with its buffers at addresses of its own, from ``base`` on.

    The trace of several launches is that of one whose grid has so many times the CTAs in z; every launch has its own
    inputs, and expectations are of all of them. ``buffers`` are those of the last one.
    ``progress(done, total)`` is called after each CTA. Raises :class:`ExecutionError` for an opcode that cannot be
    executed, an access out of bounds, a deadlock, a CTA that spins without end, or more than ``instruction_limit`` warp
    instructions (by default ``INSTRUCTION_LIMIT`` in all and ``CTA_LIMIT`` of one CTA).
    """
    start = time.perf_counter()
    gathered, memory, expectations = _Gathered(), GlobalMemory(base), list[Expectation]()
    for number in range(repeats):
        machine = _Machine(launch, instruction_limit, gathered, memory)
        _run(machine, progress, number * launch.ctas, repeats * launch.ctas)
        checked = [argument for argument, _ in buffers(launch.arguments) if argument.expect is not None]
        expectations += [check(argument, machine.buffers[argument.name]) for argument in checked]
    return Result(machine.trace(repeats), tuple(expectations), time.perf_counter() - start, machine.contents())


def _run(machine: _Machine, progress: Progress | None, done: int, total: int) -> None:
    """All CTAs of a launch; ``done`` of ``total`` were those of launches before it."""
    launch = machine.launch
    if launch.warps > machine.limit:
        raise ExecutionError(
            f"{launch.path}: grid must have at most as many warps as the instruction limit, {machine.limit}, not"
            f" {launch.warps}"
        )
    with np.errstate(all="ignore"):
        for number in range(launch.ctas):
            machine.run_cta(number, done)
            if progress is not None:
                progress(done + number + 1, total)


class _Gathered:
    """Records of all launches of a trace, warp after warp."""

    def __init__(self) -> None:
        self.store = ValueStore()
        self.records: list[WarpRecords] = []
        self.warp_cta: list[int] = []


class _Machine:
    """Memories and decoded program of one launch; what it executes goes to ``gathered``."""

    def __init__(self, launch: Launch, limit: int | None, gathered: _Gathered, memory: GlobalMemory) -> None:
        self.launch = launch
        self.limit, self.cta_limit = limit or INSTRUCTION_LIMIT, limit or CTA_LIMIT
        self.executed = 0
        self.touched = 0  #: end of the highest access to shared memory, where its size is unknown
        self.memory = memory
        self.store, self.records, self.warp_cta = gathered.store, gathered.records, gathered.warp_cta
        self.buffers = {
            argument.name: self.memory.add(f"buffer {argument.name!r}", init.tobytes())
            for argument, init in buffers(launch.arguments)
        }
        self.steps, self.program = self._decode()

    def _decode(self) -> tuple[list[Step], tuple[StaticInstruction, ...]]:
        launch = self.launch
        addresses = {name: region.base for name, region in self.buffers.items()}
        parameters = parameter_bytes(launch.arguments, addresses)
        banks = {0: launch_bank(launch.grid, launch.block, parameters, launch.places)}
        banks |= launch.function.constants
        if launch.constants:
            banks[3] = with_contents(banks.get(3, b""), launch.constants)
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

    def run_cta(self, number: int, before: int) -> None:
        """Run one CTA to its end: every warp in turn, behind a barrier once all of them have come.

        ``before``: CTAs of the launches before.
        """
        shared = (Region if self.launch.static_shared is not None else MeasuredRegion)(
            "shared memory", self.launch.places.shared, self.launch.shared_bytes
        )
        warps = self._warps(number, shared)
        first = len(self.records)
        self.records.extend(warp.records for warp in warps)
        self.warp_cta.extend([before + number] * len(warps))
        watch = Watch(f"{self.launch.function.name}, CTA {number}", [*self.memory.regions, shared])
        running = warps
        while running:
            for warp in running:
                others = sum(map(len, self.records[first:])) - len(warp.records)
                warp.allowed = min(self.limit - self.executed, self.cta_limit) - others
                warp.run()
            warps = [warp for warp in warps if not warp.is_finished]
            running = [warp for warp in warps if not warp.is_at_barrier]
            if running:
                watch.look(warps)
            else:
                combine_votes(warps)
                running = warps
        self.executed += sum(map(len, self.records[first:]))
        if isinstance(shared, MeasuredRegion):
            self.touched = max(self.touched, shared.touched)

    def _warps(self, number: int, shared: Region) -> list[Warp]:
        launch = self.launch
        grid, block = launch.grid, launch.block
        cta = (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))
        threads = block[0] * block[1] * block[2]
        warps = []
        for first in range(0, threads, LANES):
            live = (1 << min(LANES, threads - first)) - 1
            name = f"{launch.function.name}, CTA {number}, warp {first // LANES}"
            warp = Warp(self.steps, live, self.store, name)
            warp.special = special_registers(first // LANES, block, cta)
            warp.global_memory, warp.shared = self.memory, shared
            warps.append(warp)
        return warps

    def contents(self) -> dict[str, np.ndarray]:
        """Buffers as they are now."""
        found = {}
        for argument, init in buffers(self.launch.arguments):
            region = self.buffers[argument.name]
            found[argument.name] = region.bytes[: region.size].copy().view(init.dtype).reshape(init.shape)
        return found

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a CTA; where the static part is unknown, as far as the launch touched it."""
        launch = self.launch
        if launch.static_shared is not None:
            return launch.shared_bytes
        return max(launch.dynamic_shared, self.touched + -self.touched % SHARED_UNIT)

    def trace(self, repeats: int) -> Trace:
        """The records of so many launches as a trace."""
        starts = np.cumsum([0, *map(len, self.records)], dtype=np.int64)
        launch, records = self.launch, self.records
        note = remark(launch.listing.architecture)
        return Trace(
            kernel=launch.function.name,
            grid=(*launch.grid[:2], launch.grid[2] * repeats),
            block=launch.block,
            shared_bytes=self.shared_bytes,
            registers=_registers(self.program),
            source="emulated",
            listing=launch.listing.text,
            notes=(note,) if note else (),
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

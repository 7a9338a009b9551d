"""State of one warp and the loop that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from warpfile.emulator.convergence import Convergence
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.lanes import ALL, LANES, lowest_lane
from warpfile.emulator.memory import LOCAL_BYTES, GlobalMemory, Region
from warpfile.emulator.record import NO_ROW, ValueStore, WarpRecords

END = -1  #: a control step's answer when the running split has nothing left to run now
TURN = 512  #: backward branches that a warp takes before the other warps of its CTA run

Run = Callable[["Warp", int], None]
Guard = Callable[["Warp"], int]
Control = Callable[["Warp", int, int, int], int]


@dataclass(frozen=True, slots=True)
class Vote:
    """A warp's part in a reduction over the CTA: which of its ``lanes`` said yes."""

    reduction: str
    ballot: int
    lanes: int


@dataclass(slots=True)
class Step:
    """A decoded instruction: ``run(warp, execute)``, or ``control(warp, index, active, execute)`` -> next index."""

    index: int
    guard: Guard | None
    run: Run | None
    control: Control | None
    dest: int
    dest_count: int
    is_memory: bool
    is_cta_barrier: bool = False


class Warp:
    """Registers, predicates, lanes and records of one warp.

    Predicates are lane masks; a uniform predicate is 0 or all lanes. Row 255 of the registers is RZ and stays zero.
    """

    def __init__(self, steps: list[Step], live: int, store: ValueStore, name: str) -> None:
        self.steps = steps
        self.name = name
        self.store = store
        self.records = WarpRecords()
        self.allowed = 0  #: records after which the launch's instruction limit is exceeded
        self.turn = TURN  #: backward branches that are left of it
        self.loop = (0, 0)  #: target and place of the last one
        self.is_at_barrier = False
        self.registers = np.zeros((256, LANES), dtype=np.uint32)
        self.ints = self.registers.view(np.int32)
        self.floats = self.registers.view(np.float32)
        self.written = [0] * 256
        self.predicates = [0] * 7 + [ALL]
        self.uniforms = np.zeros((64, 1), dtype=np.uint32)
        self.uniform_predicates = [0] * 7 + [ALL]
        self.lanes = Convergence(live)
        self.mask = live  #: lanes of the running split
        self.address: np.ndarray | None = None  #: set by memory steps for the record
        self.special: dict[str, np.ndarray] = {}
        self.vote: Vote | None = None  #: at the CTA barrier where the warp waits
        self.barrier_result = 0
        self.cta: tuple[int, int, int] = (0, 0, 0)
        self.global_memory: GlobalMemory = GlobalMemory()
        self.shared: Region = Region("shared memory", 0, 0)
        self._local: Region | None = None

    @property
    def is_finished(self) -> bool:
        """Whether all lanes have exited."""
        return self.lanes.live == 0

    @property
    def has_local(self) -> bool:
        """Whether local memory was used."""
        return self._local is not None

    @property
    def local(self) -> Region:
        """Local memory of all lanes, lane after lane; made when first used."""
        if self._local is None:
            self._local = Region("local memory", 0, LANES * LOCAL_BYTES)
        return self._local

    def run(self) -> None:
        """Run until all lanes have exited or wait at the CTA barrier, or until the warp's turn is over."""
        self.turn, self.is_at_barrier = TURN, False
        while not self.is_finished and self.turn:
            split = self.lanes.next_split()
            if split is None:
                self._meet_at_cta_barrier()
                return
            index, self.mask = split
            self._run_split(index)

    def _run_split(self, index: int) -> None:
        steps, add, push = self.steps, self.records.add, self.store.push_values
        while True:
            if index >= len(steps):
                raise ExecutionError(f"{self.name}: control must not run past the last instruction")
            step = steps[index]
            active = self.mask
            execute = active if step.guard is None else active & step.guard(self)
            if step.control is not None:
                if step.is_cta_barrier:
                    if execute:
                        self.lanes.at_cta_barrier.append((index, execute))
                    self.mask = active & ~execute
                    if self.mask == 0:
                        return
                    index += 1
                    continue
                if len(self.records) > self.allowed:
                    reason = f"instruction limit exceeded at {16 * index:#06x}, {self.last_loop}"
                    raise ExecutionError(f"{self.name}: {reason}")
                add(index, active, execute, self.lanes.live, NO_ROW, NO_ROW)
                index = step.control(self, index, active, execute)
                if index == END:
                    return
                continue
            row = address_row = NO_ROW
            if execute:
                step.run(self, execute)  # type: ignore[misc]
                if step.dest_count:
                    for number in range(step.dest, step.dest + step.dest_count):
                        self.written[number] |= execute
                    row = push(self.registers, step.dest, step.dest_count, self.written)
                if step.is_memory and self.address is not None:
                    address_row = self.store.push_address(self.address)
            add(index, active, execute, self.lanes.live, row, address_row)
            index += 1

    def _meet_at_cta_barrier(self) -> None:
        """All lanes that still live must have come to one BAR; it is recorded once, for all of them."""
        waiting = self.lanes.at_cta_barrier
        places = {index for index, _ in waiting}
        arrived = sum(mask for _, mask in waiting)
        if arrived != self.lanes.live or len(places) != 1:
            missing = self.lanes.live & ~arrived
            where = ", ".join(f"{16 * index:#06x}" for index in sorted(places)) or "BSYNC or WARPSYNC"
            lane = f"lane {lowest_lane(missing)} cannot come" if missing else "the lanes are at different barriers"
            raise ExecutionError(f"{self.name}: deadlock, lanes wait at {where} and {lane}")
        index = places.pop()
        self.records.add(index, arrived, arrived, self.lanes.live, NO_ROW, NO_ROW)
        control = self.steps[index].control
        if control is not None:
            control(self, index, arrived, arrived)
        waiting.clear()
        self.is_at_barrier = True
        self.lanes.fork(index + 1, arrived)

    def jump(self, index: int, target: int, active: int, taken: int) -> int:
        """Send the lanes of ``taken`` to ``target``; the others fall through and run first."""
        if taken == 0:
            return index + 1
        if taken != active:
            self.lanes.fork(target, taken)
            self.mask = active & ~taken
            return index + 1
        if target <= index:
            self.loop = (target, index)
            self.turn -= 1
            if self.lanes.yields() or not self.turn:
                self.lanes.fork(target, active)
                return END
        return target

    @property
    def last_loop(self) -> str:
        """Where the warp went back last."""
        target, place = self.loop
        return f"in the loop from {16 * target:#06x} to {16 * place:#06x}"

    def state(self) -> tuple[object, ...]:
        """Everything but memory that decides what the warp does next, as values."""
        arrays = (self.registers.tobytes(), self.uniforms.tobytes())
        bits = (*self.predicates, *self.uniform_predicates, self.barrier_result, self.is_at_barrier)
        return (*arrays, bits, self.lanes.state())

"""Drive the pins that a design leaves to the test bench: what comes before the machine, and what comes behind it.

Both do what the environment of the lockstep does (docs/machine.md, section 9); they are made of the same parts.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import replace

from cocotb.triggers import FallingEdge, RisingEdge

from warpfile.sim.kit.pins import Cycle, Pins
from warpfile.sim.kit.registers import spread
from warpfile.sim.stimulus import ROW_BITS, StimulusPacker, sections
from warpfile.spec.execution import Execution
from warpfile.spec.front_end import FrontEnd
from warpfile.spec.stimulus import Result, Stimulus
from warpfile.spec.values import RowValues

_INPUTS = {
    "launch": ("launch__valid", "launch__payload"),
    "decode": ("decode_valid", "decode"),
    "kernel": ("kernel__valid", "kernel__payload"),
    "operand": ("operand_valid", "operand"),
}
_MISSED = {"missed": ("missed_valid", "missed")}


def _pins(name: str) -> tuple[str, str]:
    """Names of the pins of a section: whether it is there, and what it is."""
    port = name.removeprefix("result")
    return (_INPUTS | _MISSED).get(name) or (f"result__{port}__valid", f"result__{port}__payload")


def _beside(name: str) -> int:
    """Bits of a section that are no part of the record: the row of a result's value."""
    return ROW_BITS if name.startswith("result") else 0


class _Driver(ABC):
    """Drives some sections of a stimulus after every rising edge, and sees what came of it at the falling edge."""

    def __init__(self, pins: Pins, names: list[str]) -> None:
        self._pins, self._cfg = pins, pins.design.config
        self._packer = StimulusPacker(self._cfg)
        self._driven = {
            number: (*_pins(name), (1 << section.width - _beside(name)) - 1)
            for number, (name, section) in enumerate(sections(self._cfg).items())
            if name in names
        }
        self._stimulus = Stimulus(results=[None] * self._cfg.write_ports)
        self._cycle = 0

    async def run(self) -> None:
        """Drive to the end of the simulation; nothing under reset."""
        clock, pins = self._pins.handle.clk, self._pins
        self._write(Stimulus(results=[None] * self._cfg.write_ports))
        await FallingEdge(clock)
        while pins.read("rst"):
            await FallingEdge(clock)
        while True:
            await RisingEdge(clock)
            self._write(self._next(self._stimulus))
            await FallingEdge(clock)
            self._saw(pins.cycle())
            self._cycle += 1

    @abstractmethod
    def _next(self, stimulus: Stimulus) -> Stimulus:
        """Inputs of the cycle that begins."""

    @abstractmethod
    def _saw(self, cycle: Cycle) -> None:
        """What crossed the pins in it."""

    def _write(self, stimulus: Stimulus) -> None:
        parts = dict(self._packer.parts(stimulus))
        for number, (valid, payload, bits) in self._driven.items():
            self._pins.write(valid, int(number in parts))
            if number in parts:
                self._pins.write(payload, parts[number] & bits)


class Sender(_Driver):
    """Launches the warps of the pins' workload and sends their beats, in the order of the lockstep's environment.

    Payloads are the numbers of the beats in the workload.
    """

    def __init__(self, pins: Pins) -> None:
        super().__init__(pins, list(_INPUTS))
        if pins.workload is None:
            raise ValueError("pins must have a workload for a sender")
        self._front = FrontEnd(self._cfg, pins.workload)

    @property
    def finished(self) -> bool:
        """Every warp was launched and has ended."""
        return self._front.finished

    def _next(self, stimulus: Stimulus) -> Stimulus:
        self._front.drive(self._cycle, stimulus)
        return stimulus

    def _saw(self, cycle: Cycle) -> None:
        front, levels, now = self._front, cycle.levels, self._cycle
        if "kernel" in cycle.valid and cycle.taken("kernel"):
            front.kernel_taken()
        if cycle.taken("launch"):
            front.launched(now)
        if cycle.issued is not None:
            front.issued(levels["issue_warp"], bool(levels["exit"]), now)
        for left in cycle.dispatched:
            if left.flight is not None:
                front.dispatched(left.flight.warp, left.flight.beat, now)
        if self._cfg.gives.sweeps:
            front.retired(levels["retired"])


class Units(_Driver):
    """Execution units and memory: takes what is dispatched and returns its results after the latencies of the
    configuration, and says which loads miss to machines that want to know.

    ``stalls`` is the share of cycles in which a port that could take a beat does not, and in which a result that could
    be offered is not. Values are those of the workload's trace, random ones where it has none. Random choices
    depend on ``seed`` alone.
    """

    def __init__(self, pins: Pins, *, stalls: float = 0.0, seed: int = 0) -> None:
        super().__init__(pins, [*_MISSED, *(f"result{port}" for port in range(pins.design.config.write_ports))])
        trace = pins.workload.trace if pins.workload else None
        self._execution = Execution(self._cfg, trace)
        self._rows = RowValues(trace, self._cfg.lanes) if trace else None
        self._stalls, self._random = stalls, random.Random(seed)
        self._offered: list[Result | None] = [None] * self._cfg.write_ports

    @property
    def finished(self) -> bool:
        """No result is under way."""
        return not self._execution.in_flight

    def _next(self, stimulus: Stimulus) -> Stimulus:
        self._execution.drive(self._cycle, stimulus)
        ready = sum((stimulus.ready >> port & self._goes_on()) << port for port in range(self._cfg.ports))
        for port, result in enumerate(stimulus.results):
            if result is not None and result is not self._offered[port] and not self._goes_on():
                stimulus.results[port] = None
            self._offer(port, stimulus.results[port])
        return replace(stimulus, ready=ready)

    def _goes_on(self) -> int:
        return int(self._random.random() >= self._stalls)

    def _offer(self, port: int, result: Result | None) -> None:
        """Once offered, a result stays."""
        if result is not None and result is not self._offered[port]:
            self._pins.write(f"result_data__{port}", self._value(result))
        self._offered[port] = result

    def _value(self, result: Result) -> int:
        """In lanes outside of the mask something else, which must not be written."""
        other = self._random.getrandbits(self._cfg.data_bits)
        value = self._rows.packed(result.row) if self._rows else None
        lanes = spread(result.mask & (1 << self._cfg.lanes) - 1)
        return other if value is None else value & lanes | other & ~lanes

    def _write(self, stimulus: Stimulus) -> None:
        super()._write(stimulus)
        for port in range(self._cfg.ports):
            self._pins.write(f"dispatch__{port}__ready", stimulus.ready >> port & 1)

    def _saw(self, cycle: Cycle) -> None:
        for left in cycle.dispatched:
            if left.flight is not None:
                self._execution.dispatched(left.port, left.flight.beat, self._cycle)
        if cycle.issued is not None:
            self._execution.issued(cycle.issued.warp, cycle.issued.beat, self._cycle)
        for result in cycle.returned:
            self._execution.accepted(result.port)

"""cocotb tests of a machine whose pins go through a wrapper with a fault that the input ``fault`` chooses."""

from __future__ import annotations

import os
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, with_timeout

from warpfile.sim.kit import Design, Difference, Monitor, Pins, Sender, Units

#: Faults by the number that chooses them, each with what its message must name. Zero is none.
FAULTS = (
    "",
    "operand 0 (R",  # operand slots change places
    "dispatch__2__valid",  # one dispatch is taken out
    "issue must be 0x0",  # the ready of a port is not looked at
    "operand",  # results lose a lane
    "decode_ready",  # full buffers are said to have room
    "dest of dispatch__0",  # a bit of the destination is stuck
)


async def checked(dut, told: bool) -> None:
    """Run the trace through the pins of the wrapper, from a reset on; the monitor is ``told`` of it or not."""
    design = Design.load(Path(os.environ["MANIFEST"]))
    pins = Pins(dut, design, design.workload(Path(os.environ["TRACE"])))
    seen = pins if told else Pins(dut, design)
    monitor, sender, units = Monitor(seen), Sender(pins), Units(pins, stalls=0.5, seed=3)
    running = [cocotb.start_soon(part.run()) for part in (sender, units)]
    try:
        for _ in range(4000):
            await FallingEdge(dut.clk)
            if not pins.read("rst"):
                monitor.check(seen.cycle())
            if sender.finished and units.finished:
                break
        monitor.finish()
    finally:
        for task in running:
            task.cancel()


@cocotb.test()
@cocotb.parametrize(fault=range(len(FAULTS)))
async def the_fault_is_found(dut, fault: int) -> None:
    """The monitor says what it must, or nothing where there is no fault."""
    dut.fault.value = fault
    dut.rst.value = 1
    Clock(dut.clk, 10, unit="step").start()
    await ClockCycles(dut.clk, 3)
    released = cocotb.start_soon(checked(dut, told=fault % 2 == 1))
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    try:
        await with_timeout(released, 100_000, "step")
        said = ""
    except Difference as difference:
        said = str(difference)
    print(f"fault {fault}: {said}")
    assert bool(said) == bool(fault) and FAULTS[fault] in said, said

"""A generated machine alone: the kit drives all of its pins, with random backpressure, and checks what comes out."""

import os

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from warpfile.sim.kit import Design, Monitor, Pins, Sender, Units


@cocotb.test(timeout_time=100_000, timeout_unit="step")
async def what_is_sent_comes_back(dut):
    design = Design.load(os.environ["MANIFEST"])
    pins = Pins(dut, design, design.workload(os.environ["TRACE"]))
    monitor, sender = Monitor(pins), Sender(pins)
    units = Units(pins, stalls=0.5, seed=cocotb.RANDOM_SEED)

    dut.rst.value = 1
    for part in (monitor, sender, units):
        cocotb.start_soon(part.run())
    Clock(dut.clk, 10, unit="step").start()
    await ClockCycles(dut.clk, 2)
    dut.rst.value = 0

    while not (sender.finished and units.finished):
        await RisingEdge(dut.clk)
    monitor.finish()
    print(f"{pins.cycles} cycles, {monitor.registers.operands} operands, {monitor.registers.results} results")

"""An SM in which a machine is embedded: the kit only looks, and compares with golden model and trace."""

import os

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge

from warpfile.sim.kit import Design, Monitor, Pins


@cocotb.test(timeout_time=100_000, timeout_unit="step")
async def the_sm_runs_its_trace(dut):
    design = Design.load(os.environ["MANIFEST"])
    pins = Pins(dut.machine, design, design.workload(os.environ["TRACE"]))
    monitor = Monitor(pins)

    cocotb.start_soon(monitor.run())
    Clock(dut.clk, 10, unit="step").start()
    for cycles in (2, 1):  # the second time in mid-run: the trace begins anew
        dut.rst.value = 1
        await ClockCycles(dut.clk, cycles)
        dut.rst.value = 0
        await ClockCycles(dut.clk, 60)
    assert not dut.done.value

    await FallingEdge(dut.clk)
    while not dut.done.value:
        await FallingEdge(dut.clk)
    monitor.finish()
    print(f"{pins.cycles} cycles, {monitor.registers.operands} operands, {monitor.registers.results} results")

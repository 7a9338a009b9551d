"""A simulation that drives itself: the measure of what the simulator alone costs."""

from __future__ import annotations

import os
import time
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Timer

from warpfile.sim.replay import CLOCK_PERIOD

CYCLES_VARIABLE = "WARPFILE_BARE_CYCLES"
SECONDS_VARIABLE = "WARPFILE_BARE_SECONDS"


@cocotb.test()
async def bare(dut) -> None:
    """Let the clock run for the recorded cycles and write the seconds that took."""
    cycles = int(os.environ[CYCLES_VARIABLE])
    Clock(dut.clk, CLOCK_PERIOD, unit="ns", impl="gpi").start()
    await Timer(CLOCK_PERIOD, unit="ns")  # in the first cycle the simulation reads what was recorded
    start = time.perf_counter()
    await Timer(cycles * CLOCK_PERIOD, unit="ns")
    Path(os.environ[SECONDS_VARIABLE]).write_text(str(time.perf_counter() - start))

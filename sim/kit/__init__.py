"""Checks a machine at its pins, alone or embedded in a larger design, against its golden model, with cocotb.

``Pins`` are those of one instance; ``Monitor`` checks them; ``Sender`` and ``Units`` drive those that the design
leaves to the test bench. docs/integration.md, section "Checking a design", and examples/integration show how.
"""

from warpfile.sim.kit.design import Design
from warpfile.sim.kit.drivers import Sender, Units
from warpfile.sim.kit.monitor import Monitor
from warpfile.sim.kit.pins import PinError, Pins
from warpfile.sim.kit.registers import Difference
from warpfile.sim.kit.runner import run
from warpfile.sim.simulators import SimulatorError, run_plain

__all__ = [
    "Design",
    "Difference",
    "Monitor",
    "PinError",
    "Pins",
    "Sender",
    "SimulatorError",
    "Units",
    "run",
    "run_plain",
]

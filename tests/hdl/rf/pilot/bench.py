"""What the tests of the partitioned file's parts have in common."""

from collections.abc import Callable

from amaranth.sim import Simulator

from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.pilot import PilotConfig


def config(**changes) -> PilotConfig:
    """The small machine with four fast registers and 16 names, unless changed."""
    values = PilotConfig.adapted(PRESETS["tiny"].config.to_json())
    return PilotConfig(**values | {"register_names": 16} | changes)


def run(part, bench: Callable) -> None:
    """Simulate a part."""
    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()

"""What the tests of the register hierarchy's parts have in common."""

from amaranth.sim import Simulator

from warpfile.schemes import find
from warpfile.spec.schemes.shrf import ShrfConfig


def config(**changes: object) -> ShrfConfig:
    """The scheme at the small preset, with three warps and one lane, unless changed."""
    return find("shrf").configuration("tiny", **{"lanes": 1, "warps": 3, "active_warps": 2} | changes)


def word(cfg: ShrfConfig, **values: int) -> int:
    """Hints of a beat by name."""
    return sum(value << cfg.hint_at(name) for name, value in values.items())


def sources(cfg: ShrfConfig, *named: int) -> int:
    """The hint ``source_entry`` from what every slot names."""
    return sum(value << slot * cfg.source_entry_bits for slot, value in enumerate(named))


def run(part, bench, *, clocked: bool = True) -> None:
    """Simulate a part."""
    simulator = Simulator(part)
    if clocked:
        simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()

"""What the tests of the pool's parts have in common."""

from collections.abc import Callable

from amaranth.sim import Simulator

from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.regmutex import RegMutexConfig


def config(**changes) -> RegMutexConfig:
    """The small machine with 16 register names, unless changed."""
    values = RegMutexConfig.adapted(PRESETS["tiny"].config.to_json())
    return RegMutexConfig(**values | {"register_names": 16} | changes)


def run(part, bench: Callable, *, clocked: bool = True) -> None:
    """Simulate a part."""
    simulator = Simulator(part)
    if clocked:
        simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def row_of(ctx, source) -> int:
    """Row of a source of the offered beat before it wraps around (:func:`hdl.rf.layouts.offered_layout`)."""
    return sum(ctx.get(getattr(source, part)) for part in ("base", "offset", "carry"))

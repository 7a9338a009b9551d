"""What the tests of the parts of the file of shared rows have in common."""

from __future__ import annotations

from collections.abc import Callable

from amaranth.sim import Simulator

from tests.hdl.unstamped import inside
from warpfile.hdl.rf.shared import access_vector, address_table, counts, merge, recent, rows
from warpfile.schemes import find
from warpfile.spec.schemes.shared import SharedConfig

STAMPED = (access_vector, address_table, counts, merge, recent, rows)


def config(**changes: object) -> SharedConfig:
    """The scheme at the small preset, with few rows and lanes, unless changed."""
    small: dict[str, object] = {"lanes": 4, "rows": 4, "banks": 2, "register_names": 8, "warps": 2}
    return find("larf").configuration("tiny", **small | changes)


def run(monkeypatch, part, bench: Callable, *, clocked: bool = True) -> None:
    """Simulate a part as one tree."""
    for module in STAMPED:
        monkeypatch.setattr(module, "stamp", inside)
    simulator = Simulator(part)
    if clocked:
        simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()

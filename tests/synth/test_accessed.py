"""A netlist is sized once more where its memories are slow, and both of its paths are those of what comes out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.synth.test_timed import drives
from tests.synth.wires.designs import cell, module
from warpfile.synth.accessed import sized_with_access
from warpfile.synth.timing import session, worst

pytestmark = pytest.mark.needs("sta")

TOP = "warpfile"


def design() -> dict[str, Any]:
    """A memory and a weak cell before one port; a register and twenty inverters, of one size, before another."""
    chain = {f"inv{at}": cell("INV", A=20 + at, Y=21 + at) for at in range(20)}
    ram = module({"clk": ("i", [2]), "address": ("i", [3]), "data": ("o", [4])})
    ram["attributes"] = {"blackbox": "1"}
    top = module(
        {"clk": ("i", [2]), "a": ("i", [3]), "y": ("o", [6]), "z": ("o", [40])},
        rows=cell("ram", clk=2, address=3, data=5),
        drive=cell("DRIVE_1", A=5, Y=6),
        register=cell("DFF", C=2, D=3, Q=20),
        **chain,
    )
    return {"creator": "", "modules": {"ram": ram, TOP: top}}


@pytest.mark.parametrize(("access", "kind"), [(1, "DRIVE_1"), (20, "DRIVE_4")])
def test_a_cell_behind_a_memory_is_exchanged_where_that_is_slow(tmp_path: Path, access: float, kind: str) -> None:
    """FO4 is 0.06. Memory 0.04, driver 0.02, four loads at 10 ns per pF, or at 2.5; the chain has 0.1 + 20 x 0.03."""
    cells, netlist = drives(tmp_path, ("DRIVE_4", 5, 0.04, 2.5)), design()
    opened = partial(session, netlist, TOP, ["ram"], cells, "", "")
    with opened({}) as timer:
        before = worst(timer)
    path, swaps = sized_with_access(opened, before, netlist["modules"], TOP, cells, {"ram": access})
    assert (swaps, netlist["modules"][TOP]["cells"]["drive"]["type"]) == (int(kind == "DRIVE_4"), kind)
    assert path.nanoseconds == before.nanoseconds and path.end == "z"
    assert path.with_access and path.with_access.end == ("y" if kind == "DRIVE_4" else "z")
    with opened({"ram": access * path.with_access.fo4_ns}) as timer:  # what is counted is what was timed
        assert worst(timer).nanoseconds == path.with_access.nanoseconds

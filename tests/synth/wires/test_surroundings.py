"""What the placement of a scheme knows of the machine: areas of its memories, bits of a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.synth.wires.designs import WIRES
from warpfile.results.designs import design
from warpfile.schemes import SCHEMES
from warpfile.synth import area
from warpfile.synth.built import dense_um2
from warpfile.synth.liberty import Liberty
from warpfile.synth.timed import TimedNetlist
from warpfile.synth.timing import CriticalPath


def test_a_scheme_is_placed_with_the_areas_of_its_memories(liberty: Liberty, monkeypatch: pytest.MonkeyPatch) -> None:
    """The small library has no latches, so that memories have the densest published density."""
    given, pictures = [], list[bytes]()

    def netlist(*_: Any, around: Any, **__: Any) -> TimedNetlist:
        given.append(around)
        if around:
            around.keep(b"picture")
        return TimedNetlist("levels", 1, 0, 0, 1.0, 1.0, CriticalPath(None))

    monkeypatch.setattr(area, "timed_netlist", netlist)
    monkeypatch.setattr(area, "_verilog", lambda *_: "module warpfile; endmodule")
    monkeypatch.setattr(area, "read_liberty", lambda _: liberty)
    cfg = design(SCHEMES["baseline"], "tiny", ["lanes=2"]).config
    options: dict[str, Any] = {"cache": None, "picture": pictures.append}
    for wires in (True, False):
        area.timed(SCHEMES["baseline"], cfg, Path("cells.lib"), wires=wires, **options)
    around, without = given
    bits = {name: ram.bits for name, ram in cfg.rams.items()}
    assert around.memories_um2 == {name: pytest.approx(dense_um2(WIRES.node_nm) * some) for name, some in bits.items()}
    assert around.lane_bits == 64 and pictures == [b"picture"] and without is None

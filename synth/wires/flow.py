"""A timed netlist with its wires: flattened, placed, with repeaters, and sized again (docs/wires.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from warpfile.synth.accessed import sized_with_access
from warpfile.synth.drive import mid_size_buffer, unit_femtofarads
from warpfile.synth.liberty import Liberty
from warpfile.synth.opensta import Session
from warpfile.synth.sizing import size
from warpfile.synth.timing import CriticalPath, session, worst
from warpfile.synth.wires.congestion import congestion, metres_by_part
from warpfile.synth.wires.flat import Flat, Net
from warpfile.synth.wires.floorplan import floorplan
from warpfile.synth.wires.parasitics import ROUTED, lengths, spef
from warpfile.synth.wires.picture import png
from warpfile.synth.wires.placement import Placement, placed, wired
from warpfile.synth.wires.repeaters import driven, repeated
from warpfile.synth.wires.result import Wires
from warpfile.synth.wires.slack import weights
from warpfile.synth.wires.spacing import spacing_um
from warpfile.synth.wires.strengthen import Strengthening
from warpfile.synth.wires.technology import technology

#: A late cell whose strongest size drives more inverters of its strength gets a buffer behind it.
OVERLOADED = 8.0
#: Most passes over the worst path in which cells are exchanged one by one.
PASSES = 12
#: Nets and parts that a result names.
_NAMED_NETS, _NAMED_PARTS = 5, 3


@dataclass(frozen=True)
class Surroundings:
    """What a netlist does not say: area in um2 of one instance of each memory, and the bits of a row of all lanes.

    ``keep`` is given the picture of the placement, a PNG file.
    """

    memories_um2: Mapping[str, float]
    lane_bits: int
    keep: Callable[[bytes], None] = lambda _picture: None


def key() -> str:
    """Hash of the sources of this package: all that decides about wires beside the netlist and its surroundings."""
    files = sorted(path for path in Path(__file__).parent.iterdir() if path.suffix in (".py", ".toml"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def with_wires(
    flat: Flat,
    liberty: Liberty,
    around: Surroundings,
    access_fo4: Mapping[str, float],
    progress: Callable[[str], None] = lambda _step: None,
) -> tuple[Wires, dict[int, float]]:
    """Place a mapped design, put in repeaters, and size it again: ``flat`` changes. Also the fF of the wire of each
    net.

    With ``access_fo4``, if not empty, it is sized once more with memories that take that time, and the path has
    ``with_access``. The same for the same input. Needs OpenSTA and coloquinte. Raises ``ValueError`` for a library
    whose wires are not known, and for a memory without an area.
    """
    technology(liberty)  # an unknown one is refused before anything is placed
    nets = wired(flat, liberty)
    plan = floorplan(flat, liberty, technology(liberty), around.memories_um2, around.lane_bits)
    progress("placement")
    with session(flat.design, flat.top, flat.memories, liberty, flat.verilog()) as timer:
        counts = weights(timer, flat, nets, liberty)
    placement = placed(flat, liberty, plan, nets, counts)
    wiring = _Wiring(flat, liberty, placement, nets, access_fo4, progress)
    found = wiring.run()
    around.keep(png(flat, placement, liberty))
    return found, wiring.femtofarads()


@dataclass
class _Wiring:
    """The steps behind the placement. ``nets`` are those of ``flat`` as it is."""

    flat: Flat
    liberty: Liberty
    placement: Placement
    nets: dict[int, Net]
    access_fo4: Mapping[str, float]
    progress: Callable[[str], None]
    swaps: int = 0

    def run(self) -> Wires:
        """Time, put in repeaters, and size."""
        buffer, spacing, before = mid_size_buffer(self.liberty), spacing_um(self.liberty), len(self.flat.cells)
        self.progress("timing with wires")
        with self._session() as timer:
            placed_ns = worst(timer).nanoseconds
        self.progress("repeaters")
        repeated(self.flat, self.placement, self.nets, buffer, spacing)
        self.nets = wired(self.flat, self.liberty)
        with self._session() as timer:
            repeated_ns = worst(timer).nanoseconds
            overloaded = self._strengthened(timer).overloaded(OVERLOADED)
        driven(self.flat, self.placement, self.nets, buffer, set(overloaded))
        self.nets = wired(self.flat, self.liberty)
        self.progress("sizing with wires")
        with self._session() as timer:
            self._strengthened(timer)
            self.swaps += size(timer, self.flat.design["modules"], self.flat.top, self.liberty, PASSES)
            path = worst(timer)
        if self.access_fo4:
            netlist = self.flat.design["modules"], self.flat.top, self.liberty
            path, swaps = sized_with_access(self._session, path, *netlist, self.access_fo4, PASSES)
            self.swaps += swaps
        assert placed_ns and repeated_ns, "the same netlist has the same ends"
        times: dict[str, Any] = {
            "path": _renamed(path, self.flat),
            "placed_ns": placed_ns,
            "repeated_ns": repeated_ns,
            "swaps": self.swaps,
        }
        added = list(self.flat.cells)[before:]
        return Wires(**times, routed=ROUTED, repeater_um=spacing, **self._cells(added), **self._lengths())

    def _session(self, access_ns: Mapping[str, float] | None = None) -> AbstractContextManager[Session]:
        flat = self.flat
        wires = spef(flat, self.placement, self.nets, technology(self.liberty))
        return session(flat.design, flat.top, flat.memories, self.liberty, flat.verilog(), wires, access_ns)

    def femtofarads(self) -> dict[int, float]:
        """The capacitance of the wire of each net."""
        layers = technology(self.liberty)
        found = lengths(self.placement, self.nets)
        return {bit: layers.layer(length).ff * length for bit, length in found.items()}

    def _strengthened(self, timer: Session) -> Strengthening:
        unit = unit_femtofarads(self.liberty)
        loads = {bit: ff / unit for bit, ff in self.femtofarads().items()}
        search = Strengthening(timer, self.flat, self.liberty, loads)
        search.run()
        self.swaps += search.swaps
        return search

    def _cells(self, added: Sequence[str]) -> dict[str, Any]:
        """Fields of the result that are about cells, of which some were added."""
        flat, plan, cells = self.flat, self.placement.plan, self.liberty.cells
        areas = {name: cells[one["type"]].area for name, one in flat.cells.items() if one["type"] in cells}
        area = sum(areas.values())
        return {
            "repeaters": len(added),
            "repeaters_area": round(sum(areas[name] for name in added), 3),
            "cells": len(areas),
            "area": round(area, 3),
            "width_um": round(plan.width_um, 1),
            "height_um": round(plan.height_um, 1),
            "utilisation": round(area / plan.width_um / (plan.high_um - plan.low_um), 4),
        }

    def _lengths(self) -> dict[str, Any]:
        """Fields of the result that are about lengths."""
        found = lengths(self.placement, self.nets)
        named = [(self.flat.driver_name(net), round(found[bit], 1)) for bit, net in self.nets.items()]
        full = congestion(self.placement, self.nets, found, technology(self.liberty))
        parts = metres_by_part(self.flat, self.nets, found)[:_NAMED_PARTS]
        return {
            "metres": round(sum(found.values()) * 1e-6, 3),
            "congestion": round(float(full.max()), 3),
            "mean_congestion": round(float(full.mean()), 3),
            "longest": tuple(sorted(named, key=lambda one: (-one[1], one[0]))[:_NAMED_NETS]),
            "parts": tuple((name, round(metres, 3)) for name, metres in parts),
        }


def _renamed(path: CriticalPath, flat: Flat) -> CriticalPath:
    """The path with the names of the hierarchy."""
    cells = tuple(replace(cell, instance=flat.named(cell.instance)) for cell in path.cells)
    slow = path.with_access
    slow = slow and replace(slow, start=flat.named(slow.start), end=flat.named(slow.end))
    return replace(path, start=flat.named(path.start), end=flat.named(path.end), cells=cells, with_access=slow)

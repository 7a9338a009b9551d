"""What the placed netlist of the timed flow has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from warpfile.synth.timing import CriticalPath


@dataclass(frozen=True)
class Wires:
    """The timed netlist with its wires (docs/wires.md). Lengths are of all nets but clocks, areas the library's.

    ``path`` is with repeaters and new sizes, ``placed_ns`` before both, ``repeated_ns`` between them. ``routed`` is the
    factor over half perimeters. ``repeaters`` were put in, ``repeater_um`` apart or behind weak cells; ``swaps`` counts
    exchanged cells, ``cells`` and ``area`` are those of the whole netlist then. The die is in um; ``utilisation`` is
    the part of the rows that all cells take. ``congestion`` is wire over room for it, in the fullest tile and
    in the mean; ``longest`` has nets by their drivers, in um, ``parts`` the most wire by part, in metres.
    """

    path: CriticalPath
    placed_ns: float
    repeated_ns: float
    metres: float
    routed: float
    repeaters: int
    repeaters_area: float
    repeater_um: float
    swaps: int
    cells: int
    area: float
    width_um: float
    height_um: float
    utilisation: float
    congestion: float
    mean_congestion: float
    longest: tuple[tuple[str, float], ...]
    parts: tuple[tuple[str, float], ...]

    def to_json(self) -> dict[str, object]:
        """All fields by name."""
        return asdict(self) | {"path": self.path.to_json()}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Wires:
        """What :meth:`to_json` gave."""
        pairs = {name: tuple((key, value) for key, value in facts[name]) for name in ("longest", "parts")}
        return cls(**{**facts, **pairs, "path": CriticalPath.from_json(facts["path"])})

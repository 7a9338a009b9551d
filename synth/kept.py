"""The netlist of the timed flow itself, kept in a file so that its power can be found for many kernels."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from warpfile.spec.writing import atomic_file
from warpfile.synth.wires.flat import Flat


@dataclass(frozen=True)
class KeptNetlist:
    """All cells without hierarchy, and the capacitance in fF of the wire of each net, empty where none was placed."""

    flat: Flat
    wire_ff: Mapping[int, float]

    def write(self, path: Path) -> None:
        """Write it, compressed."""
        flat = self.flat
        facts = {
            "design": flat.design,
            "top": flat.top,
            "paths": flat.paths,
            "memories": sorted(flat.memories),
            "fresh": flat.fresh,
            "wire_ff": {str(bit): round(ff, 4) for bit, ff in self.wire_ff.items()},
        }
        with atomic_file(path) as partial, gzip.open(partial, "wt", compresslevel=3) as stream:
            json.dump(facts, stream)

    @classmethod
    def read(cls, path: Path) -> KeptNetlist:
        """What :meth:`write` wrote. Raises ``OSError`` or ``ValueError`` for a file that is missing or broken."""
        with gzip.open(path, "rt") as stream:
            facts = json.load(stream)
        names = ("design", "top", "paths", "fresh")
        flat = Flat(**{name: facts[name] for name in names}, memories=frozenset(facts["memories"]))
        return cls(flat, {int(bit): ff for bit, ff in facts["wire_ff"].items()})

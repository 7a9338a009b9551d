"""Cells of known libraries that a designer does not let a mapper use."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping

#: Patterns of names by library; those of one library fit no cell of another.
PATTERNS: Mapping[str, tuple[str, ...]] = {
    # Low-power and isolation cells, delay cells, spare cells, probes, cells of clock trees, three-state cells, scan
    # flip-flops; the weakest sizes; enables in flip-flops, multiplexers of four, adders and XOR of three inputs, which
    # are slow and large; three and more p-channel transistors in series (or4_1 takes 5 FO4).
    "sky130": tuple(
        f"sky130_fd_sc_hd__{name}"
        for name in (
            *("lpflow_*", "*dly*", "macro_sparecell", "probe*", "clkbuf_*", "clkinv*", "bufbuf_*", "bufinv_*"),
            *("ebuf*", "einv*", "sdf*", "sedf*", "*_0", "edf*", "mux4_*", "fa_*", "fah*", "ha_*"),
            *("xor3_*", "xnor3_*", "or3*", "or4*", "nor3*", "nor4*"),
        )
    ),
    "ihp": tuple(f"sg13g2_{name}" for name in ("dly*", "sighold", "ebuf*", "einv*", "sdf*", "mux4_*")),
    # Delay cells, inverters of clock trees, scan flip-flops, flip-flops for the falling edge or with set and reset,
    # adders, the weakest sizes, and three and more transistors in series.
    "asap7": tuple(
        f"{name}_ASAP7_75t_R"
        for name in (
            *("HB*", "CKINVDC*", "SDF*", "DFFL*", "DFFASR*", "FAx*", "HAx*", "MAJ*"),
            *("*xp25", "*xp33", "*xp2", "NAND4*", "NAND5*", "NOR3*", "NOR4*", "NOR5*"),
            *("OR3*", "OR4*", "OR5*", "AND4*", "AND5*"),
        )
    ),
    "osu018": ("CLKBUF[1-3]", "TBUFX[12]", "FAX1", "HAX1"),
}


def dont_use(cells: Iterable[str]) -> frozenset[str]:
    """Those of the names of a library's cells that fit one of :data:`PATTERNS`."""
    patterns = [pattern for some in PATTERNS.values() for pattern in some]
    return frozenset(name for name in cells if any(fnmatch.fnmatchcase(name, one) for one in patterns))

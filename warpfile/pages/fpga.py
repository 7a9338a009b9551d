"""docs/fpga.md: what an FPGA's tools make of the register file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product

from warpfile.output.display import followed
from warpfile.pages.writing import DOCS, ROOT, page_parser, write_or_check
from warpfile.schemes import SCHEMES
from warpfile.spec.config import Config
from warpfile.synth.yosys import run
from warpfile.verilog.generate import design, presented
from warpfile.verilog.names import SRAM, Names

PAGE = DOCS / "fpga.md"
WRAPPER = ROOT / "examples" / "memories" / "fpga.v"
#: Of both families the step behind which nothing changes what memories become.
FAMILIES = {"ecp5": "map_gates", "xilinx": "map_ffram"}
#: Beginnings of the names of cells of both families.
_KINDS = {"LUTs": ("LUT",), "flip-flops": ("TRELLIS_FF", "FD"), "block RAMs": ("DP16KD", "RAMB")}
_SCRIPT = "read_verilog design.v\nsynth_{family} -top {top}{run}\ntee -q -o stat.json stat -json\n"
#: Of the machine that is mapped; the control is the same for any number.
LANES = 4
_INTRODUCTION = f"""\
# On an FPGA

Written by `python -m warpfile.pages fpga`: the baseline at the preset `turing` with {LANES} lanes. Yosys maps
it with `synth_ecp5` (Lattice) and `synth_xilinx` (7 series), without placement. The whole machine is mapped only up to
the mapping of its memories.

The SRAM of a bank is counted with two descriptions: the generated model, and `examples/memories/fpga.v`. The second
does not define the read data of a row that is written in the same cycle. No part of the machine uses that data. If
block RAMs do not return the old row in that case, tools add logic to the generated model to return it.

| what | family | LUTs | flip-flops | block RAMs |
|---|---|---:|---:|---:|
"""


def resources(verilog: str, top: str, family: str, *, memories: bool = False) -> dict[str, int]:
    """Cells by kind of a design mapped to a family; ``memories``: of its block RAMs only, which takes less time."""
    until = f" -run begin:{FAMILIES[family]}" if memories else ""
    found = run(_SCRIPT.format(family=family, top=top, run=until), {"design.v": verilog}, ["stat.json"])
    cells: dict[str, int] = json.loads(found["stat.json"])["design"]["num_cells_by_type"]
    wanted = ["block RAMs"] if memories else list(_KINDS)
    return {kind: sum(count for name, count in cells.items() if name.startswith(_KINDS[kind])) for kind in wanted}


def wrapped(cfg: Config) -> str:
    """The wrapper for block RAM with the sizes of a configuration."""
    text = WRAPPER.read_text()
    return text.replace("ROW_BITS = 8", f"ROW_BITS = {cfg.row_bits}").replace("LANES = 32", f"LANES = {cfg.lanes}")


def cases() -> Iterator[tuple[str, str, str]]:
    """What is mapped: a description, its Verilog, its top module."""
    names, scheme = Names.of("baseline", True, None, None), SCHEMES["baseline"]
    cfg = scheme.configuration("turing", lanes=LANES)
    machine, sram = presented(cfg, design(scheme, cfg)[1], names)
    size = f"{cfg.rows} rows of {cfg.data_bits} bits"
    yield f"bank, {size}: model", sram, names.prefix + SRAM
    yield f"bank, {size}: wrapper", wrapped(cfg), names.prefix + SRAM
    yield f"machine, {cfg.banks} banks: wrapper", machine + wrapped(cfg), names.top


def page() -> str:
    """The page ``docs/fpga.md``."""
    every = list(product(cases(), FAMILIES))
    wanted = followed("fpga", every, lambda one: f"{one[0][0]}, {one[1]}")
    return _INTRODUCTION + "".join(row(family, *case) for case, family in wanted)


def row(family: str, what: str, verilog: str, top: str) -> str:
    """A row of the page; of a whole machine only its block RAMs."""
    found = resources(verilog, top, family, memories=what.startswith("machine"))
    counts = (f"{found[kind]:,}" if kind in found else "-" for kind in _KINDS)
    return f"| {what} | {family} | {' | '.join(counts)} |\n"


def main(arguments: Sequence[str]) -> int:
    """Write the page."""
    options = page_parser("fpga", __doc__).parse_args(arguments)
    return write_or_check(options, {PAGE: page()})

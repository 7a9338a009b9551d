"""Collectors and register file beside a published operand stage.

``python -m warpfile.pages peers`` writes the table of docs/schemes/baseline.md.

Needs the cell library osu018 (Debian: qflow-tech-osu018) and OpenSTA (Debian: opensta).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warpfile.schemes import SCHEMES, TOP
from warpfile.spec.presets import PRESETS
from warpfile.spec.structure import BANK_RAM
from warpfile.synth import yosys
from warpfile.synth.liberty import Liberty
from warpfile.synth.timing import Timed, measure_part

FRAME = f"{TOP}.frame"
LOCATION = f"{TOP}.register_file.location"
WRITE_AFTER_READ = "write_after_read"

#: What stands before every input and behind every output, and the delay target: easy to meet, as it was for the peer.
DRIVER, LOAD_FF, PERIOD_NS = "BUFX2", 20.0, 10.0

CONFIG = PRESETS["peer"].config


@dataclass(frozen=True)
class Peer:
    """Measured figures of Vortex's ``VX_operands`` without output buffers, 8 warps, 2 collectors."""

    lanes: int
    kilo_gates: float
    flip_flops: int
    levels: int
    nanoseconds: float


VORTEX = (Peer(4, 15.0, 1212, 15, 1.88), Peer(32, 95.6, 6700, 14, 1.88))

#: What is measured, with the modules that are left out as black boxes.
PARTS = {
    "collectors, arbiters, crossbar": (BANK_RAM, FRAME, LOCATION, WRITE_AFTER_READ),
    "with the place of each register": (BANK_RAM, FRAME, WRITE_AFTER_READ),
    "with the check for writes after reads": (BANK_RAM, FRAME),
}


def measure(lanes: int, part: str, library: Liberty) -> Timed:
    """Figures of one row of ``PARTS`` at a number of lanes."""
    verilog = SCHEMES["baseline"].verilog(CONFIG.replace(lanes=lanes), probes=False)
    limits = {"driver": DRIVER, "load_ff": LOAD_FF, "period_ns": PERIOD_NS}
    return measure_part(verilog, TOP, PARTS[part], library, **limits)


def table(library: Liberty) -> Iterator[str]:
    """The rows of the comparison in Markdown."""
    yield f"{yosys.version()}, {library.name}; ns with the setup time of the register.\n"
    yield "| lanes | design | kGE | flip-flops | levels | between registers, ns | to pins of the stage, ns |"
    yield "|---|---|---|---|---|---|---|"
    for peer in VORTEX:
        facts = f"{peer.kilo_gates:.1f} | {peer.flip_flops:,} | {peer.levels} | {peer.nanoseconds:.2f} | |"
        yield f"| {peer.lanes} | Vortex, no output buffers | {facts}"
        for part in PARTS:
            yield f"| {peer.lanes} | ours, {part} | {_facts(measure(peer.lanes, part, library))}"


def _facts(timed: Timed) -> str:
    inner = timed.paths["registers"]
    outer = max(path.nanoseconds for kind, path in timed.paths.items() if kind != "registers")
    size = f"{timed.nand2_equivalents / 1000:.1f} | {timed.flip_flops:,}"
    return f"{size} | {inner.levels} | {inner.nanoseconds:.2f} | {outer:.2f} |"

"""How much larger one architecture is than another, at stated densities of the memories."""

from __future__ import annotations

from typing import Any

from warpfile.spec.config import Config
from warpfile.spec.structure import BANK_RAM
from warpfile.synth.area import AreaReport, ModuleArea
from warpfile.synth.arrays import Array, slices
from warpfile.synth.built import LATCH_ROWS, of_latches
from warpfile.synth.liberty import Liberty

#: NAND2 equivalents per SRAM bit at 45 nm: area of a bit over the 0.798 um2 of a NAND2 of Nangate45. Published arrays
#: have 0.33 to 0.94 Mb/mm2 (10^6 bits); OpenRAM's 128 x 32 single-port array of FreePDK45 has 3.43 um2 per bit.
NAND2_PER_BIT = {
    "0.94 Mb/mm2": 1 / 0.94 / 0.798,
    "0.33 Mb/mm2": 1 / 0.33 / 0.798,
    "OpenRAM 128x32": 3.43 / 0.798,
}

#: Growth below which names and order of ports explain as much as the design does: of a whole machine, of one module.
NOISE, MODULE_NOISE = 0.005, 0.1


def overhead(report: AreaReport, baseline: AreaReport) -> dict[str, Any]:
    """Growth over ``baseline`` as fractions: ``logic``, ``flip_flops``, ``storage`` and ``total`` per SRAM density.

    Storage is flip-flops and memory bits together. ``nand2_equivalents`` is the absolute growth of the logic, ``noise``
    whether it is too small to mean anything. ``modules`` has, of each module that both have, its growth and its noise.
    """
    logic = _growth(report.nand2_equivalents, baseline.nand2_equivalents)
    new, old = ({module.name: module for module in one.modules} for one in (report, baseline))
    return {
        "nand2_equivalents": round(report.nand2_equivalents - baseline.nand2_equivalents, 3),
        "logic": logic,
        "noise": logic is not None and abs(logic) < NOISE,
        "flip_flops": _growth(report.flip_flops, baseline.flip_flops),
        "storage": _growth(report.flip_flops + report.memory_bits, baseline.flip_flops + baseline.memory_bits),
        "total": {name: _growth(_total(report, bit), _total(baseline, bit)) for name, bit in NAND2_PER_BIT.items()},
        "modules": {name: _module(module, old[name]) for name, module in new.items() if name in old},
    }


def has_latches(library: Liberty) -> bool:
    """Whether arrays can be latches of a library."""
    try:
        return library.latched_area(1) > 0
    except ValueError:
        return False


def latched_overhead(
    machine: tuple[AreaReport, Config], baseline: tuple[AreaReport, Config], library: Liberty
) -> dict[str, Any]:
    """``logic``, ``noise`` and ``total`` as of :func:`overhead`, with small arrays in latches.

    The reports are of machines whose arrays of operands are latches. Memories of up to ``LATCH_ROWS`` rows are latches
    of the library, too, except register banks; all others have the densities. Raises ``ValueError`` for a library
    without latches.
    """
    (report, _), (beside, _) = machine, baseline
    logic = _growth(report.nand2_equivalents, beside.nand2_equivalents)
    totals = {
        name: _growth(_latched_total(*machine, library, bit), _latched_total(*baseline, library, bit))
        for name, bit in NAND2_PER_BIT.items()
    }
    return {"logic": logic, "noise": logic is not None and abs(logic) < NOISE, "total": totals}


def _latched_total(report: AreaReport, cfg: Config, library: Liberty, nand2_per_bit: float) -> float:
    total = report.nand2_equivalents
    for name, bits in report.storage_bits["memories"].items():
        ram = cfg.rams[name]
        if name == BANK_RAM or ram.rows > LATCH_ROWS:
            total += bits * nand2_per_bit
        else:
            one = of_latches(Array.of(ram), library).um2 * slices(ram) * ram.arrays * ram.instances
            total += one / library.nand2_area
    return total


def _module(module: ModuleArea, before: ModuleArea) -> dict[str, object]:
    growth = _growth(module.nand2_equivalents, before.nand2_equivalents)
    return {"logic": growth, "noise": growth is not None and abs(growth) < MODULE_NOISE}


def _total(report: AreaReport, nand2_per_bit: float) -> float:
    return report.nand2_equivalents + report.memory_bits * nand2_per_bit


def _growth(value: float, base: float) -> float | None:
    return round(value / base - 1, 5) if base else None

"""What the papers say that their schemes cost, measured on the generated design."""

from __future__ import annotations

from collections.abc import Iterable

from warpfile.schemes import Claim
from warpfile.synth.area import AreaReport
from warpfile.synth.overhead import NAND2_PER_BIT

DENSE = min(NAND2_PER_BIT, key=NAND2_PER_BIT.__getitem__)


def measured(claim: Claim, report: AreaReport, baseline: AreaReport) -> float:
    """What a claim is about, of a scheme's report and that of the baseline beside it, over that of the register file.

    Bits are compared with bits; logic and areas with the file's bits at the density ``DENSE``.
    """
    file_area = report.memory_bits * NAND2_PER_BIT[DENSE]
    match claim.measure:
        case "storage over the baseline":
            return (_all_bits(report) - _all_bits(baseline)) / report.memory_bits
        case "logic over the baseline":
            return (report.nand2_equivalents - baseline.nand2_equivalents) / file_area
        case "bits":
            return bits(report, claim.of) / report.memory_bits
        case _:
            found = [one.nand2_equivalents * one.instances for one in report.modules if one.name in claim.of]
            return sum(found) / file_area


def bits(report: AreaReport, names: Iterable[str]) -> int:
    """Bits of some structures."""
    wanted = set(names)
    return sum(row.bits for row in report.structures if row.name in wanted)


def _all_bits(report: AreaReport) -> int:
    return report.flip_flops + report.memory_bits

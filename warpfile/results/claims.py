"""What the papers say that their schemes cost, measured on the generated design."""

from __future__ import annotations

from collections.abc import Iterable

from warpfile.schemes import Claim
from warpfile.synth.area import AreaReport
from warpfile.synth.overhead import NAND2_PER_BIT

DENSE = min(NAND2_PER_BIT, key=NAND2_PER_BIT.__getitem__)


def measured(claim: Claim, report: AreaReport, baseline: AreaReport) -> float:
    """What a claim is about, of a scheme's report and that of the baseline beside it, over that of the register file.

    Bits are compared with bits; logic and areas with the file's bits at the density ``DENSE``. The file is the
    baseline's: a scheme may have further memories, which are of that density too.
    """
    file_bits, per_bit = baseline.memory_bits, NAND2_PER_BIT[DENSE]
    match claim.measure:
        case "storage over the baseline":
            return (_all_bits(report) - _all_bits(baseline)) / file_bits
        case "area over the baseline":
            logic = report.nand2_equivalents - baseline.nand2_equivalents
            return (logic / per_bit + report.memory_bits - file_bits) / file_bits
        case "bits":
            return bits(report, claim.of) / file_bits
        case _:
            found = [one.nand2_equivalents * one.instances for one in report.modules if one.name in claim.of]
            return sum(found) / per_bit / file_bits


def bits(report: AreaReport, names: Iterable[str]) -> int:
    """Bits of some structures."""
    wanted = set(names)
    return sum(row.bits for row in report.structures if row.name in wanted)


def _all_bits(report: AreaReport) -> int:
    return report.flip_flops + report.memory_bits

"""What the papers say that their schemes cost, beside what the generated design has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from warpfile.synth.area import AreaReport
from warpfile.synth.overhead import NAND2_PER_BIT

DENSE = min(NAND2_PER_BIT, key=NAND2_PER_BIT.__getitem__)


@dataclass(frozen=True)
class Claim:
    """A published share. ``ours`` computes it from the reports of the scheme and of the baseline beside it.

    ``source`` is the place in the paper, ``why`` the reason of a difference.
    """

    what: str
    published: float
    source: str
    ours: Callable[[AreaReport, AreaReport], float]
    why: str


def bits(report: AreaReport, names: Iterable[str]) -> int:
    """Bits of some structures."""
    wanted = set(names)
    return sum(row.bits for row in report.structures if row.name in wanted)


def _all_bits(report: AreaReport) -> int:
    return report.flip_flops + report.memory_bits


def _storage_of_file(report: AreaReport, baseline: AreaReport) -> float:
    return (_all_bits(report) - _all_bits(baseline)) / report.memory_bits


def _logic_of_file(report: AreaReport, baseline: AreaReport) -> float:
    return (report.nand2_equivalents - baseline.nand2_equivalents) / (report.memory_bits * NAND2_PER_BIT[DENSE])


def _new_bits_of_file(report: AreaReport, baseline: AreaReport) -> float:
    new = ("tags", "locks", "near bits", "order of use", "entry of each source slot")
    return bits(report, new) / report.memory_bits


def _cache_of_file(report: AreaReport, baseline: AreaReport) -> float:
    return bits(report, ["cache lines"]) / report.memory_bits


def _cache_area_of_file(report: AreaReport, baseline: AreaReport) -> float:
    lanes = sum(one.nand2_equivalents * one.instances for one in report.modules if one.name == "cache_lane")
    return lanes / (report.memory_bits * NAND2_PER_BIT[DENSE])


_WINDOWS = (
    Claim(
        "storage over the baseline, of the register file",
        0.14,
        "dissertation, section 3.5: 36 KB of 256 KB",
        _storage_of_file,
        "with tags, slots and wider instruction buffers, which the paper leaves out",
    ),
    Claim(
        "area over the baseline, of the register file",
        0.001,
        "dissertation, section 3.5: 0.04 mm2 of crossbar, windows, arbiters, bus",
        _logic_of_file,
        "operands in flip-flops behind multiplexers; 0.04 mm2 leaves 0.1 um2 per bit of the paper's windows, and its 32"
        " banks of 1.72 mm2 have 26 um2 per bit",
    ),
)

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "bow": _WINDOWS,
    "bow_wr": _WINDOWS,
    "malekeh": (
        Claim(
            "new bits, of the register file",
            128 / 262_144,
            "section 9.4: 128 B of 256 KB, printed as 0.04 %",
            _new_bits_of_file,
            "",
        ),
        Claim(
            "area over the baseline, of the register file",
            128 / 262_144,
            "section 9.4 counts storage alone",
            _logic_of_file,
            "each of eight operands is chosen among eight entries, where the baseline has a register per operand",
        ),
    ),
    "rfc": (
        Claim(
            "bits of the cache, of the register file",
            1 / 21.3,
            "section 3.3: 6 KB, 21 times smaller than 128 KB",
            _cache_of_file,
            "",
        ),
        Claim(
            "area of the cache's data, of the register file",
            32 * 14_300 / (32 * 38_000),
            "Table 2: 14,300 um2 per lane; Table 3: 38,000 um2 per bank",
            _cache_area_of_file,
            "flip-flops in both: 10.1 um2 per bit (of 0.798 um2 per NAND2) and 9.3; the paper's banks have 1.16 um2 per"
            " bit, the density here 1.06",
        ),
    ),
}

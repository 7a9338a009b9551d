"""A pool of extended registers, next to chapter 4 of the dissertation: what it claims, and what is changed.

Most of it is about the kernels that registers limit.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.compiler.passes.regmutex.annotate import limits_of
from warpfile.compiler.passes.regmutex.choice import registers_limit
from warpfile.pages.evidence.factors import NO_L1, Factor, ptxas, replaced
from warpfile.pages.evidence.metrics import CYCLES
from warpfile.pages.evidence.statements import Statement
from warpfile.pages.listed import VERSIONS
from warpfile.results.points import Point, trace_of
from warpfile.schemes import find
from warpfile.spec.schemes.regmutex import RegMutexConfig

PRESET = "fermi_linear"
BASELINE, POOL, PAIRS, OWNERS, RENAMED = (
    Point(name, PRESET) for name in ("baseline", "regmutex", "regmutex_paired", "owf", "virtualization")
)
PAPER = "H. Asghari Esfeden, dissertation, UC Riverside 2021, chapter 4"
#: Kernels that registers limit at the full file.
FULL = (
    *("bits", "bytes_vector", "chacha", "conv_layer", "cross_sections", "depthwise_conv", "fft64", "half2", "mathlib"),
    *("matmul_2mm", "matmul_3mm", "matmul_tiled", "particle_boxes", "ray_march", "spmv", "tensor", "unrolled_poly"),
    "wide_accumulate",
)
#: Kernels that registers limit at half of the file, and not at all of it.
HALF = ("bitonic_sort", "conv2d", "divide", "divide_double", "fdtd", "kmeans", "matmul_registers", "nbody", "scan")
#: Its large launch takes least time of ``FULL``.
SPOT = "half2"
ROWS = 32  #: of half of the file

SLOTS = Factor("as many CTA slots as warps", both={"ctas": 24}, assumed="section 4.4: threads and shared memory limit")
LARGEST = Factor("the largest extended set that passes", own={"es_rule": "max_pass"}, assumed="section 4.3.1")
GTO = Factor("owners do not go first: scheduler gto", own={"scheduler": "gto"})
WIDE = replaced("a file for all warps, without the scheme", "baseline", rows=1024)


def half(point: Point) -> Point:
    """The same with half of the file."""
    return point.with_changes(rows=ROWS)


def limited(**changes: object) -> tuple[str, ...]:
    """Kernels of version 0.2.0 whose large launch registers limit."""
    cfg = find("regmutex").configuration(PRESET, **changes)
    assert isinstance(cfg, RegMutexConfig)
    traces = {kernel: trace_of(kernel, "large") for kernel in sorted(VERSIONS["0.2.0"])}
    return tuple(name for name, trace in traces.items() if registers_limit(trace.registers, limits_of(cfg, trace)))


def _full() -> Sequence[str]:
    return FULL


def _renamed() -> Sequence[str]:
    """A warp's registers are in one bank of the renamed file, which has too few rows for these two."""
    return tuple(name for name in FULL if name not in ("particle_boxes", "wide_accumulate"))


def _half() -> Sequence[str]:
    return HALF


STATEMENTS = (
    Statement(
        "full-pool",
        "Fig. 4.7, 4.9a",
        CYCLES,
        (-0.13, -0.128),
        POOL,
        BASELINE,
        _full,
        (SLOTS, LARGEST, WIDE, NO_L1, ptxas("O1")),
    ),
    Statement("full-pairs", "Fig. 4.12a", CYCLES, (-0.08, -0.08), PAIRS, BASELINE, _full, (SLOTS, WIDE, NO_L1)),
    Statement(
        "half-baseline", "Fig. 4.8, 4.9b", CYCLES, (0.229, 0.23), half(BASELINE), BASELINE, _half, (SLOTS, NO_L1)
    ),
    Statement(
        "half-pool", "section 4.4.2, Fig. 4.9b", CYCLES, (0.09, 0.108), half(POOL), BASELINE, _half, (SLOTS, NO_L1)
    ),
    Statement("half-pairs", "Fig. 4.12b", CYCLES, (0.17, 0.17), half(PAIRS), BASELINE, _half, (SLOTS, NO_L1)),
    Statement("full-owners", "Fig. 4.9a", CYCLES, (-0.019, -0.019), OWNERS, BASELINE, _full, (SLOTS, GTO, WIDE, NO_L1)),
    Statement("full-renamed", "Fig. 4.9a", CYCLES, (-0.162, -0.162), RENAMED, BASELINE, _renamed, (SLOTS, WIDE, NO_L1)),
    Statement("half-owners", "Fig. 4.9b", CYCLES, (0.206, 0.206), half(OWNERS), BASELINE, _half, (SLOTS, GTO, NO_L1)),
)
#: What the chapter says beside these, and what becomes of it here.
LEFT = (
    "Fig. 4.9b, RFV: a warp's registers are in one bank of the renamed file. At half the size that has 32 rows, too few"
    " for several of the kernels.",
    "Fig. 4.10, 4.11 and 4.13: bars without numbers in the text.",
    "384 bits of storage, and less than 2 % of the file: the storage table of [the scheme's page](regmutex.md).",
    "Its 16 applications, compiled by NVCC 4.0 for compute capability 1.3: the bundled kernels stand in for them,"
    " compiled by CUDA 13.0 for sm_75.",
)

"""What several pages compare, and the kernels of pages that do not name their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from warpfile.pages.evidence.samples import Metric
from warpfile.results.points import Outcome

#: Bundled kernels by the suite that has their kind of program (docs/kernels.md, "Kinds that papers measured").
KINDS: Mapping[str, Sequence[str]] = {
    "Rodinia": (
        *("backprop_forward", "backprop_weights", "bfs_step", "euler_flux", "gaussian_elimination", "hotspot"),
        *("kmeans", "lu_decomposition", "lu_interior", "needleman_wunsch", "particle_boxes", "pathfinder"),
        *("srad_coefficient", "srad_update", "stream_cluster", "tree_search", "wavelet"),
    ),
    "Parboil": (
        *("absolute_differences", "coulomb", "histogram", "lattice_boltzmann", "matmul_registers", "matmul_tiled"),
        *("mri_q", "pair_histogram", "spmv", "stencil_3d"),
    ),
    "PolyBench/GPU": (
        *("bicg", "conv2d", "fdtd", "gram_schmidt", "matmul_2mm", "matmul_3mm", "mvt", "rank_update", "stencil"),
    ),
    "CUDA samples": (
        *("bitonic_sort", "black_scholes", "merge_step", "nbody", "radix_sort", "scan", "transpose", "walsh"),
        "warp_reduce",
    ),
}
SUITES = tuple(sorted(kernel for kernels in KINDS.values() for kernel in kernels))
LONGEST = 20_000  #: warp instructions of a large launch that is short
_LONG = (
    *("bitonic_sort", "coulomb", "kmeans", "matmul_2mm", "matmul_3mm", "matmul_registers", "matmul_tiled", "nbody"),
    *("needleman_wunsch", "pair_histogram", "particle_boxes", "rank_update", "scan", "stencil", "tree_search"),
    "warp_reduce",
)
#: Those whose large launches are short.
SHORT = tuple(name for name in SUITES if name not in _LONG)
STAND_INS, SHORT_STAND_INS = (
    f"{what} of [the kinds of Rodinia, Parboil, PolyBench/GPU and the CUDA samples]"
    "(../kernels.md#kinds-that-papers-measured) stand in for them"
    for what in (
        f"the {len(SUITES)} bundled kernels",
        f"the {len(SHORT)} bundled kernels with large launches of at most {LONGEST:,} warp instructions",
    )
)


def suites() -> Sequence[str]:
    """Names of ``SUITES``."""
    return SUITES


def short() -> Sequence[str]:
    """Names of ``SHORT``."""
    return SHORT


CYCLES = Metric("cycles", "growth", lambda ours, other: ours.cycles / other.cycles)
IPC = Metric("IPC", "geometric growth", lambda ours, other: other.cycles / ours.cycles)


def energy_over(prices: str, wires: Mapping[str, float] | None = None) -> Metric:
    """Energy of banks and of what else has a price, over that of the machine beside it; ``wires`` in mm by part."""
    ways = "".join(f", {length:g} mm to the {part}" for part, length in (wires or {}).items())
    what = f"energy at the prices of `{prices}`{ways}"
    return Metric(what, "growth", lambda ours, other: ours.picojoules(prices, wires) / other.picojoules(prices, wires))


def share(what: str, of: Callable[[Outcome], float]) -> Metric:
    """A share that a run has, whatever is beside it."""
    return Metric(what, "share", lambda ours, _: of(ours.outcome))


def ratio(what: str, of: Callable[[Outcome], float]) -> Metric:
    """Something that a run counts, over the same of the machine beside it."""
    return Metric(what, "growth", lambda ours, other: of(ours.outcome) / of(other.outcome))

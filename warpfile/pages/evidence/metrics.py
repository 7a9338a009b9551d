"""What several pages compare, and the kernels of pages that do not name their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from warpfile.pages.evidence.figure import Metric
from warpfile.results.points import Outcome

#: Bundled kernels of the kinds of which Rodinia, Parboil, PolyBench and the CUDA samples are.
SUITES = (
    *("bfs_step", "bitonic_sort", "conv2d", "fdtd", "histogram", "kmeans", "matmul_2mm", "matmul_tiled"),
    *("particle_boxes", "scan", "spmv", "stencil", "warp_reduce"),
)
#: Those of them whose large launches are short.
SHORT = tuple(name for name in SUITES if name not in ("bitonic_sort", "matmul_tiled", "particle_boxes"))


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

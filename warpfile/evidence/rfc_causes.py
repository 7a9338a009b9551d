"""Why the bundled kernels differ from the paper of the register file cache: the same runs, taken apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from warpfile.evidence.energy import energy_of, energy_over
from warpfile.evidence.markdown import percent, signed, table
from warpfile.evidence.rfc_points import (
    ALWAYS,
    BASELINE,
    BOTH,
    HINTS,
    LIVE,
    PLAIN,
    PRICES,
    RESIDENT,
    SUSPENDS,
    accesses_left,
    accesses_over,
    cache_accesses,
    flushed_share,
    hinted,
    load_share,
    partial_share,
    reads_avoided,
    writes_avoided,
)
from warpfile.evidence.study import Outcome, Point, Study

_STEPS: tuple[tuple[str, Point], ...] = (
    ("cache alone", PLAIN),
    ("with dead bits", LIVE),
    ("loads pass the cache by", RESIDENT),
    ("suspended if a load is pending", BOTH),
    ("suspended at every marked beat", ALWAYS),
)
#: Reads per result in the paper: its bound of 58 % (section 5.4) is 1 - (2.2 r + 6.7) / (8 r + 11).
PAPER_READS = 1.8
#: Tab. 5 by (mm to the banks, mm to the cache): normalised energy of compute and of shader traces.
TABLE_5 = {(0, 0): (0.76, 0.74), (1, 1): (0.87, 0.86), (1, 0.2): (0.65, 0.63), (1, 0): (0.63, 0.60)}
_PAPER_MM = 7.6  # pJ per mm and 128 bits
_FEW_PARTIAL, _SHADER_MINIMUM = 0.05, 0.35


def causes(study: Study) -> Iterator[str]:
    """The section, piece by piece."""
    yield "## Where the differences come from\n"
    yield (
        "Shares of the baseline's bank accesses. The paper's follow from three lines of its Tab. 5 and from 1.8 reads\n"
        f"per result, which its bound of 58 % implies; its fourth line does not fit them well: {_fourth_line()}.\n"
    )
    columns = ("step", "reads avoided", "writes avoided", "bank accesses left", "cache accesses", "flushed per result")
    yield table(columns, (*_steps(study), *_paper_steps()))
    yield "Kernels apart, both, eight active warps, six entries:\n"
    columns = ("kernels", "number", "reads avoided", "writes avoided", "partial results", "loads", "energy")
    yield table(columns, _groups(study))
    yield (
        "The energy again, with counts replaced by the paper's (compute traces) one after the other. What then\n"
        "differs from its 0.76 is the mix of reads and writes.\n"
    )
    yield table(("counts", "energy"), _what_if(study))
    yield "Hints about the next suspension, small launches, over none:\n"
    columns = ("suspended", "hints", "bank reads", "bank writes", "bank accesses", "cache writes", "evicted or flushed")
    yield table(columns, _hints(study))
    yield f"With `suspend` = `pending` there are {percent(suspensions_taken(study))} of the suspensions of `always`.\n"


def _steps(study: Study) -> Iterator[tuple[object, ...]]:
    for name, point in _STEPS:
        shares = (study.mean(point, reads_avoided), writes_avoided(study, point), accesses_left(study, point))
        yield (name, *map(percent, (*shares, cache_accesses(study, point), study.mean(point, flushed_share))))


def _paper_steps() -> Iterator[tuple[object, ...]]:
    for column, name in enumerate(("paper, compute", "paper, shaders")):
        yield (name, "-", "-", *map(percent, paper_accesses(column)), "-")


def paper_accesses(column: int) -> tuple[float, float]:
    """Bank and cache accesses in units of the baseline's that Tab. 5 implies; 0: compute, 1: shaders.

    A line of the table is (banks + cache + 7.6 pJ x (mm x bank accesses + mm x cache accesses)) / baseline with wires.
    """
    accesses = PAPER_READS + 1
    near, far = 8 * PAPER_READS + 11, 8 * PAPER_READS + 11 + _PAPER_MM * accesses
    plain, both, banks = (TABLE_5[mm][column] for mm in ((0, 0), (1, 1), (1, 0)))
    per_mm = _PAPER_MM * accesses
    return (banks * far - plain * near) / per_mm, (both - banks) * far / per_mm


def _fourth_line() -> str:
    """Tab. 5 at 1 and 0.2 mm, from the accesses that the other lines imply."""
    far = 8 * PAPER_READS + 11 + _PAPER_MM * (PAPER_READS + 1)
    pairs = []
    for column, published in enumerate(TABLE_5[1, 0.2]):
        wires = 0.2 * _PAPER_MM * (PAPER_READS + 1) * paper_accesses(column)[1]
        pairs.append(f"{TABLE_5[1, 0][column] + wires / far:.2f} for {published}")
    return ", ".join(pairs)


def _groups(study: Study) -> Iterator[tuple[object, ...]]:
    divergent = [one for one in study.kernels if partial_share(study.of(BOTH, one)) > _FEW_PARTIAL]
    others = [one for one in study.kernels if one not in divergent]
    distant = [one for one in others if reads_avoided(study.of(LIVE, one)) < _SHADER_MINIMUM]
    rest = [one for one in others if one not in distant]
    yield _group(study, f"more than {_FEW_PARTIAL:.0%} partial results: {', '.join(divergent)}", divergent)
    yield _group(study, f"cache alone serves under {_SHADER_MINIMUM:.0%} of reads: {', '.join(distant)}", distant)
    yield _group(study, f"others: {', '.join(rest)}", rest)


def _group(study: Study, name: str, kernels: Sequence[str]) -> tuple[object, ...]:
    def mean(share: Callable[[Outcome], float]) -> float:
        return sum(share(study.of(BOTH, kernel)) for kernel in kernels) / max(1, len(kernels))

    pairs = [(study.of(BOTH, kernel), study.of(BASELINE, kernel)) for kernel in kernels]
    writes = sum(1 - ours["bank_writes"] / base["bank_writes"] for ours, base in pairs) / max(1, len(pairs))
    energies = [
        (energy_of(study, BOTH, kernel, PRICES), energy_of(study, BASELINE, kernel, PRICES)) for kernel in kernels
    ]
    energy = sum(ours.picojoules / base.picojoules for ours, base in energies) / max(1, len(energies))
    shares = (mean(reads_avoided), writes, mean(partial_share), mean(load_share))
    return (name, len(kernels), *map(percent, shares), signed(energy - 1))


def with_paper_counts(study: Study) -> tuple[float, float]:
    """Energy over the baseline with the paper's share of bank accesses, then with its share of cache accesses, too."""
    left, used = paper_accesses(0)
    return replaced(study, left, None), replaced(study, left, used)


def _what_if(study: Study) -> Iterator[tuple[str, str]]:
    left, used = paper_accesses(0)
    banks, both = with_paper_counts(study)
    yield "as counted", signed(energy_over(study, BOTH, BASELINE, PRICES) - 1)
    yield f"bank accesses left: {percent(left)}", signed(banks - 1)
    yield f"and cache accesses: {percent(used)}", signed(both - 1)


def replaced(study: Study, left: float, used: float | None) -> float:
    """Mean energy if banks had this share of the baseline's accesses, and the cache, if not None, this one."""
    total = 0.0
    for kernel in study.kernels:
        ours, base = (energy_of(study, point, kernel, PRICES) for point in (BOTH, BASELINE))
        cached = [one for one in ours.priced if one.kind.startswith("cache")]
        accesses = sum(one.count for one in base.priced)
        scale = 1.0 if used is None else used * accesses / sum(one.count for one in cached)
        total += left + scale * sum(one.total for one in cached) / base.picojoules
    return total / len(study.kernels)


def _hints(study: Study) -> Iterator[tuple[object, ...]]:
    for suspend in SUSPENDS:
        none = hinted(suspend, "none").small
        for hints in list(HINTS)[1:]:
            point = hinted(suspend, hints).small
            growths = (_growth(study, point, none, name) for name in ("bank_reads", "bank_writes"))
            cached = (_growth(study, point, none, "cache_writes"), writebacks_over(study, point, none))
            yield (
                suspend,
                hints,
                *map(signed, (*growths, accesses_over(study, point, none), *cached)),
            )


def suspensions_taken(study: Study) -> float:
    """Suspensions for a load that is pending, of those at all marked beats; small launches."""
    return _total(study, BOTH.small, "suspends_long") / _total(study, ALWAYS.small, "suspends_long")


def writebacks_over(study: Study, point: Point, over: Point) -> float:
    """Growth of the lines that are evicted or flushed to their banks."""
    return _growth(study, point, over, "evictions", "flushes")


def _growth(study: Study, point: Point, over: Point, *counters: str) -> float:
    return _total(study, point, *counters) / _total(study, over, *counters) - 1


def _total(study: Study, point: Point, *counters: str) -> int:
    return sum(study.of(point, kernel)[name] for kernel in study.kernels for name in counters)

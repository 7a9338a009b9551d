"""How the bundled kernels differ from the paper of the register file cache: the same runs, taken apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from warpfile.pages.evidence.energy import energy_of, energy_over
from warpfile.pages.evidence.rfc_points import (
    ALWAYS,
    BANK_ACCESSES,
    BASELINE,
    BOTH,
    CHOSEN,
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
    total,
    writes_avoided,
)
from warpfile.pages.evidence.study import FEW, Outcome, Point, Study
from warpfile.results.markdown import percent, signed, table
from warpfile.results.spread import Spread

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
_SUSPENDS = ("suspends_long", "suspends_barrier")
_MOST = 5  #: kernels in the table of barriers


def causes(study: Study) -> Iterator[str]:
    """The section, piece by piece."""
    yield "## Taken apart\n"
    yield (
        "Shares of the baseline's bank accesses. The paper's follow from three lines of its Tab. 5 and from 1.8 reads\n"
        f"per result, which its bound of 58 % implies; its fourth line does not fit them well: {_fourth_line()}.\n"
    )
    columns = ("step", "reads avoided", "writes avoided", "bank accesses left", "cache accesses", "flushed per result")
    yield table(columns, (*_steps(study), *_paper_steps()))
    yield from _suspensions(study)
    yield "Kernels apart, both, eight active warps, six entries:\n"
    columns = ("kernels", "number", "reads avoided", "writes avoided", "partial results", "loads", "energy")
    yield table(columns, _groups(study))
    yield "The energy again, with counts replaced by the paper's (compute traces) one after the other:\n"
    yield table(("counts", "energy"), _what_if(study))
    yield "Hints about the next suspension, small launches, over none:\n"
    columns = ("suspended", "hints", "bank reads", "bank writes", "bank accesses", "cache writes", "evicted or flushed")
    yield table(columns, _hints(study))
    taken = percent(study.spread(suspensions_taken, FEW))
    yield f"With `suspend` = `pending` there are {taken} of the suspensions for loads of `always`.\n"


def _steps(study: Study) -> Iterator[tuple[object, ...]]:
    for name, point in _STEPS:
        yield (name, *map(percent, (*_avoided(study, point), *_used(study, point))))


def _avoided(study: Study, point: Point) -> tuple[Spread, Spread]:
    reads = study.spread(lambda one: one.mean(point, reads_avoided))
    return reads, study.spread(lambda one: writes_avoided(one, point))


def _used(study: Study, point: Point) -> tuple[Spread, Spread, Spread]:
    left, used = (study.spread(lambda one, share=share: share(one, point)) for share in (accesses_left, cache_accesses))
    return left, used, study.spread(lambda one: one.mean(point, flushed_share))


def _suspensions(study: Study) -> Iterator[str]:
    yield "Suspensions by cause, and what other choices make of them; IPC over the baseline:\n"
    columns = (
        *("choice", "at barriers", "per 1,000 instructions", "reads avoided", "writes avoided", "partial results"),
        *("bank accesses left", "IPC"),
    )
    yield table(columns, (_choice(study, *one) for one in {"as above": BOTH, **CHOSEN}.items()))
    yield "The kernels that suspend most often at barriers:\n"
    columns = ("kernel", "suspensions", "at barriers", "bank accesses left", "of them without suspensions")
    often = sorted(study.kernels, key=lambda kernel: -study.of(BOTH, kernel)["suspends_barrier"])[:_MOST]
    yield table(columns, (_waiting(study, kernel) for kernel in often))


def _choice(study: Study, name: str, point: Point) -> tuple[object, ...]:
    rate = study.spread(lambda one: 1000 * one.mean(point, lambda run: _suspends(run) / run.instructions))
    barriers = study.spread(lambda one: total(one, point, "suspends_barrier") / total(one, point, *_SUSPENDS))
    partial, left = study.spread(lambda one: one.mean(point, partial_share)), _used(study, point)[0]
    shares = (*_avoided(study, point), partial, left)
    gain = study.spread(lambda one: one.speedup(point, BASELINE))
    return (name, percent(barriers), f"{rate.mean:.1f} ± {rate.half:.1f}", *map(percent, shares), signed(gain))


def _suspends(run: Outcome) -> int:
    return sum(run[name] for name in _SUSPENDS)


def _waiting(study: Study, kernel: str) -> tuple[object, ...]:
    both, free, base = (study.of(point, kernel) for point in (BOTH, RESIDENT, BASELINE))
    shares = [
        sum(run[name] for name in BANK_ACCESSES) / sum(base[name] for name in BANK_ACCESSES) for run in (both, free)
    ]
    found = (_suspends(both), both["suspends_barrier"])
    return (kernel, *(f"{count:,}" for count in found), *map(percent, shares))


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
    if not kernels:
        return (name, 0, "-", "-", "-", "-", "-")
    part = replace(study, kernels=kernels)
    partial, loads = (part.spread(lambda one, f=share: one.mean(BOTH, f)) for share in (partial_share, load_share))
    energy = part.spread(lambda one: energy_over(one, BOTH, BASELINE, PRICES) - 1)
    return (name, len(kernels), *map(percent, (*_avoided(part, BOTH), partial, loads)), signed(energy))


def with_paper_counts(study: Study) -> tuple[Spread, Spread]:
    """Growth of the energy with the paper's share of bank accesses, then with its share of cache accesses, too."""
    left, used = paper_accesses(0)
    banks = study.spread(lambda one: replaced(one, left, None) - 1)
    return banks, study.spread(lambda one: replaced(one, left, used) - 1)


def _what_if(study: Study) -> Iterator[tuple[str, str]]:
    left, used = paper_accesses(0)
    banks, both = with_paper_counts(study)
    yield "as counted", signed(study.spread(lambda one: energy_over(one, BOTH, BASELINE, PRICES) - 1))
    yield f"bank accesses left: {percent(left)}", signed(banks)
    yield f"and cache accesses: {percent(used)}", signed(both)


def replaced(study: Study, left: float, used: float | None) -> float:
    """Mean energy if banks had this share of the baseline's accesses, and the cache, if not None, this one."""

    def energy(kernel: str) -> float:
        ours, base = (energy_of(study, point, kernel, PRICES) for point in (BOTH, BASELINE))
        cached = [one for one in ours.priced if one.kind.startswith("cache")]
        accesses = sum(one.count for one in base.priced)
        scale = 1.0 if used is None else used * accesses / sum(one.count for one in cached)
        return left + scale * sum(one.total for one in cached) / base.picojoules

    return study.over_kernels(energy)


def _hints(study: Study) -> Iterator[tuple[object, ...]]:
    for suspend in SUSPENDS:
        none = hinted(suspend, "none").small
        for hints in list(HINTS)[1:]:
            point = hinted(suspend, hints).small
            figures: tuple[Callable[[Study], float], ...] = (
                lambda one, pair=(point, none): _growth(one, *pair, "bank_reads"),
                lambda one, pair=(point, none): _growth(one, *pair, "bank_writes"),
                lambda one, pair=(point, none): accesses_over(one, *pair),
                lambda one, pair=(point, none): _growth(one, *pair, "cache_writes"),
                lambda one, pair=(point, none): writebacks_over(one, *pair),
            )
            yield (suspend, hints, *(signed(study.spread(figure, FEW)) for figure in figures))


def suspensions_taken(study: Study) -> float:
    """Suspensions for a load that is pending, of those at all marked beats; small launches."""
    return total(study, BOTH.small, "suspends_long") / total(study, ALWAYS.small, "suspends_long")


def writebacks_over(study: Study, point: Point, over: Point) -> float:
    """Growth of the lines that are evicted or flushed to their banks."""
    return _growth(study, point, over, "evictions", "flushes")


def _growth(study: Study, point: Point, over: Point, *counters: str) -> float:
    return total(study, point, *counters) / total(study, over, *counters) - 1

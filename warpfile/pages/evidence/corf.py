"""Packed registers and coalesced reads, next to chapter 2 of the dissertation: what it claims, and what is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from warpfile.pages.evidence.factors import Factor, addresses, launch, ptxas, replaced
from warpfile.pages.evidence.metrics import IPC, SHORT_STAND_INS, energy_over, share, short
from warpfile.pages.evidence.samples import Metric, Sample
from warpfile.pages.evidence.statements import Statement
from warpfile.pages.evidence.widths import Pairs, Values, pairs_of, values_of
from warpfile.results.figure import Range
from warpfile.results.points import Outcome, Point, trace_of

PRESET = "fermi"
PAPER = "H. Asghari Esfeden, dissertation, UC Riverside 2021, chapter 2"
BASELINE, CORF, PLUS = (Point(name, PRESET) for name in ("baseline", "corf", "corf_plus"))
#: With registers that are released when they are dead, as the chapter has it for sizes and, at no cost, for the rest.
CORF_VIRTUAL, PLUS_VIRTUAL = (Point(name, PRESET) for name in ("corf_virtual", "corf_plus_virtual"))
FIRST, PACKING, BOTH, VIRTUAL = (
    Point(name, PRESET) for name in ("first_fit", "packing", "packing_virtual", "virtualization")
)
#: All of them but that nothing is packed and no row given back: a register has a row from its first value on.
UNPACKED = PACKING.with_changes(packing=0)
SPOT = "conv2d"

_STUDY = "warpfile.golden.rf.packed.study"
SMALL, UNOPTIMISED = launch("launch"), ptxas("O0")
#: GPGPU-Sim 3.2 has its heap from there on, so that the upper half of a pointer is 0.
LOW = addresses(0x8000_0000, "section 2.7: GPGPU-Sim 3.2.1")
TWICE = Factor("banks and units of both schedulers", both={"banks": 4, "rows": 128, "collectors": 4})
FREED = Factor("dead registers lose their rows", scheme="corf_virtual", assumed="section 2.6: register virtualization")
FREE = Factor("no waiting for a sweep or a port of the table", file=f"{_STUDY}:FreeFile")
ONE_BYTE = Factor("every value has one byte", file=f"{_STUDY}:NarrowFile")


@lru_cache(maxsize=64)
def _values(kernel: str, setting: str, contents: str) -> Values:
    return values_of(trace_of(kernel, setting, contents))


@lru_cache(maxsize=64)
def _pairs(kernel: str, setting: str, contents: str) -> Pairs:
    return pairs_of(trace_of(kernel, setting, contents))


def _fitting(ours: Sample, _: Sample) -> float:
    pairs = _pairs(ours.run.kernel, ours.run.point.setting, ours.run.contents)
    return pairs.fitting / max(1, pairs.allocations)


def values(one: Sample) -> Values:
    """What the trace of a run reads."""
    return _values(one.run.kernel, one.run.point.setting, one.run.contents)


def of_values(what: str, part: Callable[[Values], float]) -> Metric:
    """A share that the trace has."""
    return Metric(what, "share", lambda ours, _: part(values(ours)))


def results(run: Outcome) -> int:
    """Results with a size."""
    return sum(run[f"size_{size}"] for size in (1, 2, 3, 4))


def narrow(size: int) -> Callable[[Outcome], float]:
    """Share of the results that need so many bytes or fewer."""
    return lambda run: sum(run[f"size_{one}"] for one in range(1, size + 1)) / max(1, results(run))


def paired(run: Outcome) -> float:
    """Share of the results with a mapped partner that go to its row."""
    return run["pair_packed"] / max(1, run["pair_packed"] + run["pair_failed"])


def resized(run: Outcome) -> float:
    """Share of the results that change their place for their size."""
    return run["resizes"] / max(1, results(run))


def accesses(run: Outcome, merges: bool = True) -> int:
    """Reads and writes of banks."""
    return run["bank_reads"] + run["bank_writes"] + (run["merges"] if merges else 0)


def _fewer(ours: Sample, other: Sample) -> float:
    return accesses(ours.outcome) / accesses(other.outcome, merges=False)


def _fewer_reads(ours: Sample, other: Sample) -> float:
    return ours.outcome["bank_reads"] / other.outcome["bank_reads"]


def _rows(ours: Sample, _: Sample) -> float:
    run = ours.outcome
    return run["used_row_cycles"] / max(1, run["resident_cycles"] * ours.run.trace.registers)


def _rows_over(ours: Sample, other: Sample) -> float:
    return _rows(ours, other) / _rows(other, other)


def _joined(ours: Sample, _: Sample) -> float:
    return ours.outcome["coalesced"] / max(1, values(ours).wide)


def _of(
    key: str,
    where: str,
    metric: Metric,
    paper: float | Range,
    point: Point,
    factors: Sequence[Factor] = (LOW, SMALL, UNOPTIMISED),
    over: Point = BASELINE,
) -> Statement:
    band = paper if isinstance(paper, tuple) else (paper, paper)
    return Statement(key, where, metric, band, point, over, short, factors)


def _kept(scheme: str) -> Factor:
    return replaced("dead registers keep their rows", scheme)


JOINED = Metric("wide instructions coalesced", "share", _joined)
ACCESSES = Metric("accesses", "growth", _fewer)
READS = Factor(
    "reads alone",
    counted=Metric("reads", "growth", _fewer_reads),
    assumed="Table 2.1: the same figures are of register reads",
)
ROWS = Metric("rows over registers of resident warps", "growth", _rows, beside=False)
RESIZED = share("results that change their place for their size", resized)
ALLOCATED = Metric("allocations whose partner leaves room", "share", _fitting)
WRITTEN = Factor(
    "over the rows of registers with a value",
    counted=Metric("rows over registers with a value", "growth", _rows_over, beside=False),
)
_JOINED = (LOW, SMALL, ONE_BYTE)
_READ = (READS, *_JOINED)
_SPEED = (SMALL, FREE, TWICE)
_NARROW = (WRITTEN, SMALL, LOW, ONE_BYTE)

STATEMENTS = (
    _of("narrow", "section 2.3, Fig. 2.2", share("results of up to three bytes", narrow(3)), 0.65, CORF),
    _of("one-byte", "section 2.3, Fig. 2.2", share("results of one byte", narrow(1)), (0.33, 0.36), CORF),
    _of(
        "wide",
        "section 2.3",
        of_values("instructions that read two registers or more", lambda one: one.wide / one.executed),
        0.4,
        CORF,
    ),
    _of(
        "wide-reads",
        "section 2.3",
        of_values("their share of the reads", lambda one: one.wide_reads / one.reads),
        (0.7, 0.75),
        CORF,
    ),
    _of(
        "coalescable",
        "section 2.3, Fig. 2.4",
        of_values("of them, two sources fit into a row", lambda one: one.coalescable / max(1, one.wide)),
        0.69,
        CORF,
    ),
    _of("coalesced-first-fit", "section 2.7, Fig. 2.13", JOINED, 0.04, FIRST, _JOINED),
    _of("coalesced", "section 2.7, Fig. 2.13", JOINED, 0.23, CORF, _JOINED),
    _of("coalesced-plus", "section 2.7, Fig. 2.13", JOINED, 0.48, PLUS, _JOINED),
    _of("paired", "section 2.4, Fig. 2.6", share("results beside their partner", paired), (0.75, 0.8), CORF, _JOINED),
    _of("paired-allocations", "section 2.4.3, Fig. 2.6", ALLOCATED, (0.75, 0.8), CORF, (LOW,)),
    _of("accesses", "section 2.7, Fig. 2.14", ACCESSES, -0.1, CORF, _READ),
    _of("accesses-plus", "section 2.7, Fig. 2.14", ACCESSES, -0.23, PLUS, _READ),
    _of("speed", "section 2.7, Fig. 2.15", IPC, 0.04, CORF_VIRTUAL, (_kept("corf"), *_SPEED)),
    _of("speed-plus", "section 2.7, Fig. 2.15", IPC, 0.09, PLUS_VIRTUAL, (_kept("corf_plus"), *_SPEED)),
    _of("rows-packing", "section 2.7, Fig. 2.16", ROWS, -0.34, PACKING, _NARROW, UNPACKED),
    _of("rows-virtual", "section 2.7, Fig. 2.16", ROWS, -0.35, VIRTUAL, (WRITTEN, SMALL, UNOPTIMISED), UNPACKED),
    _of("rows-both", "section 2.7, Fig. 2.16", ROWS, -0.54, BOTH, _NARROW, UNPACKED),
    _of("resized", "section 2.6", RESIZED, (0, 0.003), CORF, (FREED, SMALL, LOW, UNOPTIMISED)),
    _of("energy", "section 2.7, Fig. 2.17", energy_over("corf"), -0.085, CORF, _JOINED),
    _of("energy-plus", "section 2.7, Fig. 2.17", energy_over("corf"), -0.17, PLUS, _JOINED),
)
#: What the chapter says beside these, and what becomes of it here.
LEFT = (
    "Fig. 2.6 is compared twice: `paired` has all results, `paired-allocations` those that get a place.",
    "Kernels of integers and of floats apart: the table of the kernels has them one by one.",
    "Growth of the code by 1.3 % (Fig. 2.19) and leakage: the scheme's page has the first; there is no model of the"
    " second.",
    "Of the accesses, 10 % and 23 %: with 48 % of the instructions coalesced that have more than 70 % of the reads,"
    " at most 17 to 19 % of the reads can be saved, so not both of the chapter's figures can hold.",
    f"Its 20 benchmarks, in PTXPlus: {SHORT_STAND_INS}.",
)

"""Prefetched register intervals, next to the paper's sections 1, 4 and 6: what it claims, and what is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from warpfile.pages.evidence.factors import NO_L1, PIPELINED_BANKS, Factor, allocated_ptx, scheduler
from warpfile.pages.evidence.metrics import IPC, SHORT_STAND_INS, short
from warpfile.pages.evidence.samples import Metric, Sample
from warpfile.pages.evidence.statements import Statement
from warpfile.pages.lengths import REGISTERS, Measured, measured
from warpfile.results.figure import Range
from warpfile.results.points import Outcome, Point, trace_of

PRESET = "maxwell"
PAPER = "M. Sadrosadati and others, LTRF: enabling high-capacity register files for GPUs, ASPLOS 2018"
BASELINE, RFC, LTRF, PLUS = (Point(name, PRESET) for name in ("baseline", "rfc", "ltrf", "ltrf_plus"))
STRANDS, FOUR = LTRF.with_changes(prefetch_unit="strands"), LTRF.with_changes(active_warps=4)
CYCLES = 3  #: of an access to a main bank at the preset
SLOWEST = 19  #: 6.3 times as many, the paper's configuration #7
#: Kernels that have half as many warps again or more with eight times the registers.
PRESSED = ("bits", "conv_layer", "kmeans", "matmul_2mm", "spmv", "tensor", "unrolled_poly")
SPOT = "conv2d"

WIDE = Factor("intervals of 32 registers", own={"interval_registers": 32})
DIRTY = Factor("only what was written goes back", own={"moved_back": "dirty"})
NEEDED = Factor(
    "places kept until another warp needs them", own={"suspend_load": "needed", "suspend_barrier": "needed"}
)
STAYING = Factor("a place for every warp", own={"active_warps": 64})
OVERLAPPED = Factor("main banks that overlap accesses", own={"main_pipelined": 1})
#: On both sides, of claims that put a design beside itself.
WIDE_BOTH, OVERLAPPED_BOTH = (Factor(one.what, both=one.own) for one in (WIDE, OVERLAPPED))
_TWO_LEVEL = "Table 3: scheduler two-level"
PTX = allocated_ptx("section 5: intervals of the register-allocated PTX code")
SCHEDULED = Factor("the two-level scheduler beside it", beside={"scheduler": "two_level"}, assumed=_TWO_LEVEL)


def slowed(point: Point, cycles: int) -> Point:
    """The same with main banks that take so many cycles."""
    return point.with_changes(bank_cycles=cycles)


def eightfold(point: Point, cycles: int = SLOWEST) -> Point:
    """The same with eight times the main registers, in eight times as many banks."""
    return slowed(point.with_changes(banks=128), cycles)


def main_accesses(run: Outcome) -> int:
    """Accesses to main banks."""
    return run["main_reads"] + run["main_writes"]


def _fewer(ours: Sample, other: Sample) -> float:
    return main_accesses(ours.outcome) / (other.outcome["bank_reads"] + other.outcome["bank_writes"])


@lru_cache(maxsize=64)
def _measured(kernel: str, setting: str, contents: str, registers: int) -> Measured:
    return measured(trace_of(kernel, setting, contents), registers)


def of_code(what: str, kind: str, part: Callable[[Measured], float], registers: int = REGISTERS) -> Metric:
    """Something that the code has, with intervals of so many registers."""

    def found(ours: Sample, _: Sample) -> float:
        return part(_measured(ours.run.kernel, ours.run.point.setting, ours.run.contents, registers))

    return Metric(what, kind, found, beside=False)


def _pressed() -> Sequence[str]:
    return PRESSED


def _of(
    key: str,
    where: str,
    metric: Metric,
    paper: float | Range,
    point: Point,
    over: Point,
    factors: Sequence[Factor] = (),
    kernels: Callable[[], Sequence[str]] = short,
) -> Statement:
    band = paper if isinstance(paper, tuple) else (paper, paper)
    return Statement(key, where, metric, band, point, over, kernels, factors)


def _tolerated(key: str, where: str, design: Point, cycles: int, factors: Sequence[Factor]) -> Statement:
    """At most 5 % less IPC with main banks of so many cycles, on small launches."""
    return _of(key, where, IPC, -0.05, slowed(design, cycles).small, design.small, factors)


ACCESSES = Metric("main accesses over all accesses of the baseline", "share", _fewer)
WIDER = 32  #: registers of an interval
_MOVED = (PTX, WIDE, DIRTY, NEEDED, STAYING)
_IDEAL = (scheduler("two_level", _TWO_LEVEL), PTX, NO_L1)
_LARGER = (SCHEDULED, PTX, WIDE, OVERLAPPED, NO_L1)
_BOTH = (WIDE_BOTH,)
_CODE: Sequence[tuple[str, str, str, str, Callable[[Measured], float], float]] = (
    ("optimum", "section 6.5, Table 4", "length of intervals over the optimum", "share", lambda one: one.share, 0.89),
    (
        "code",
        "section 4.3",
        "growth of the code, instructions and sets",
        "growth",
        lambda one: 1 + one.growth.by(opcode=True),
        0.09,
    ),
    (
        "code-sets",
        "section 4.3",
        "growth of the code, sets alone",
        "growth",
        lambda one: 1 + one.growth.by(opcode=False),
        0.07,
    ),
)


def _counted(what: str, kind: str, part: Callable[[Measured], float]) -> Factor:
    return Factor(WIDE.what, counted=of_code(what, kind, part, WIDER))


STATEMENTS = (
    _of("larger-ideal", "section 2.1, Fig. 3", IPC, 0.37, eightfold(BASELINE, CYCLES), BASELINE, _IDEAL, _pressed),
    _of(
        "larger-rfc",
        "section 1",
        IPC,
        -0.14,
        eightfold(RFC),
        BASELINE,
        (SCHEDULED, PTX, PIPELINED_BANKS, NO_L1),
        _pressed,
    ),
    _of("larger", "section 6.1, Fig. 9", IPC, 0.28, eightfold(LTRF), BASELINE, _LARGER, _pressed),
    _of("larger-plus", "section 6.1, Fig. 9", IPC, 0.31, eightfold(PLUS), BASELINE, _LARGER, _pressed),
    _tolerated("tolerated", "section 6.3: 5.3 times the latency", LTRF, 16, (PTX, WIDE_BOTH, OVERLAPPED_BOTH)),
    _tolerated("tolerated-plus", "section 6.3: 6.2 times the latency", PLUS, 19, (PTX, WIDE_BOTH, OVERLAPPED_BOTH)),
    _tolerated("tolerated-rfc", "section 6.3: 2.1 times the latency", RFC, 6, (PTX, PIPELINED_BANKS)),
    _tolerated("tolerated-strands", "section 6.6: 3 times the latency", STRANDS, 9, (PTX, WIDE_BOTH)),
    _of("active", "section 6.4, Fig. 13", IPC, 0.369, *(slowed(one, SLOWEST).small for one in (LTRF, FOUR)), _BOTH),
    _of("accesses", "section 4.3", ACCESSES, (0.17, 0.25), LTRF.small, BASELINE.small, _MOVED),
    _of("accesses-plus", "section 4.3", ACCESSES, (0.17, 0.25), PLUS.small, BASELINE.small, _MOVED),
    *(
        _of(key, where, of_code(what, kind, part), paper, LTRF.small, BASELINE.small, (PTX, _counted(what, kind, part)))
        for key, where, what, kind, part, paper in _CODE
    ),
)
#: What the paper says beside these, and what becomes of it here.
LEFT = (
    "Fig. 10, power: no prices of its technologies.",
    "Latencies at 1 % and 10 % less IPC: not run.",
    "Fig. 11 has the mean of the latencies that its programs tolerate one by one; `tolerated` and those like it have"
    " the mean IPC at that latency, of small launches.",
    "Lengths in instructions, 31.2 and the optimum's 34.7: `python -m warpfile.pages lengths` prints ours.",
    f"Its benchmarks of CUDA SDK, Rodinia and Parboil: {SHORT_STAND_INS}; where eight times the registers"
    f" matter, {', '.join(PRESSED)}.",
)

"""A register hierarchy that the compiler manages, next to what its paper and that of LTRF say of it."""

from __future__ import annotations

from warpfile.pages.evidence import ltrf, rfc
from warpfile.pages.evidence.factors import PIPELINED_BANKS, Factor
from warpfile.pages.evidence.metrics import IPC, SHORT_STAND_INS, energy_over, share
from warpfile.pages.evidence.rfc import RESIDENT, SMALL, UNOPTIMISED, claim, free
from warpfile.pages.evidence.statements import Statement
from warpfile.results.points import Outcome, Point

PAPER = (
    "M. Gebhart, S. W. Keckler and W. J. Dally, A compile-time managed multi-level register file hierarchy, MICRO 2011"
)
SHRF, RFC = (Point(name, rfc.PRESET) for name in ("shrf", "rfc"))
#: At the preset of the paper that compares with it.
SHRF_THERE, RFC_THERE = (Point(name, ltrf.PRESET) for name in ("shrf", "rfc"))
TWICE = 2 * ltrf.CYCLES  #: cycles of an access to a main bank
SPOT = "conv2d"

NEEDED = Factor("suspended only for a load that the next beat needs", own={"suspend": "pending"})
#: Lengths in mm from banks and caches to where operands are used; entries are as near as the earlier paper's cache.
WIRES = rfc.WIRES | {"orf": 0.2}


def read_near(run: Outcome) -> float:
    """Share of the operand reads that entries serve."""
    entries = run["orf_reads"] + run["lrf_reads"]
    return entries / max(1, entries + run["bank_reads"])


NEAR = share("operands read from entries", read_near)


def _energy(key: str, paper: float, point: Point) -> Statement:
    """Then also with wires, and without suspensions."""
    wires = Factor("energy of wires", counted=energy_over("rfc", WIRES))
    return claim(key, "abstract", energy_over("rfc"), paper, point, (wires, free(point, WIRES), SMALL, UNOPTIMISED))


_LATE = ltrf.slowed(SHRF_THERE, TWICE).small
STATEMENTS = (
    _energy("energy", -0.54, SHRF),
    _energy("energy-hardware", -0.34, RFC),
    claim("speed", "abstract", IPC, 0, SHRF, (NEEDED, RESIDENT, SMALL)),
    claim(
        "near", "LTRF, section 2.3, Fig. 4", NEAR, (0.08, 0.3), SHRF_THERE.small, (UNOPTIMISED,), ltrf.BASELINE.small
    ),
    claim("tolerated", "LTRF, section 6.6: twice the latency", IPC, -0.05, _LATE, (PIPELINED_BANKS,), SHRF_THERE.small),
    claim(
        "as-hardware",
        "LTRF, section 6.6",
        IPC,
        0,
        _LATE,
        (NEEDED, PIPELINED_BANKS, UNOPTIMISED),
        ltrf.slowed(RFC_THERE, TWICE).small,
    ),
)
#: What the papers say beside these, and what becomes of it here.
LEFT = (
    "Other numbers of entries, with and without last-result files: the curves of the MICRO paper are not at hand. The"
    " claims are those of its abstract, and what the LTRF paper says of it.",
    "Last-result files: no price is published at hand, so their accesses cost nothing here. Operand register files have"
    " the price of a cache of their size.",
    f"Its programs: {SHORT_STAND_INS}.",
)
